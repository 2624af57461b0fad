import { readFile } from 'node:fs/promises';

/** The ids that PostgreSQL runs under and that own its files. */
export interface ServerAccount {
  readonly uid: number;
  readonly gid: number;
}

const ACCOUNTS = '/etc/passwd';

/**
 * The account to run PostgreSQL under, or undefined for the account of this process.
 *
 * PostgreSQL refuses to run as root, and `initdb` wants an entry in the list of accounts. So root
 * runs both as `nobody`, which every Unix has. Making a new account would change the machine.
 */
export async function findServerAccount(): Promise<ServerAccount | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const account = parseAccount(await readFile(ACCOUNTS, 'utf8'), 'nobody');
  if (account) return account;
  throw new Error(
    `PostgreSQL refuses to run as root, and ${ACCOUNTS} has no account "nobody" to run it as. Start this as an ordinary user.`,
  );
}

/**
 * Finds one account in the text of a passwd file; undefined if the text lacks it or its ids are not
 * numbers.
 */
function parseAccount(accounts: string, wanted: string): ServerAccount | undefined {
  const line = accounts.split('\n').find((entry) => entry.startsWith(`${wanted}:`));
  if (line === undefined) return undefined;
  const [uid, gid] = line.split(':').slice(2, 4).map(Number);
  return Number.isInteger(uid) && Number.isInteger(gid) && uid !== undefined && gid !== undefined
    ? { uid, gid }
    : undefined;
}
