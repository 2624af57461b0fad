import { readFileSync } from 'node:fs';

/** The login that wants its password. */
interface Login {
  readonly host: string;
  readonly port: number;
  readonly database?: string | undefined;
  readonly user?: string | undefined;
}

/** No file has the password. Treated as PostgreSQL's answer to a wrong one: the server is there. */
class NoPassword extends Error {
  override readonly name = 'NoPassword';
  readonly code = '28P01';
}

/** Four fields that a backslash lets hold a colon, and the rest of the line. */
const LINE = new RegExp(`^${String.raw`((?:\\.|[^\\:])*):`.repeat(4)}(.*)$`);

/**
 * Reads the password of a login from a file of lines `host:port:database:user:password`, of which the
 * first that fits counts; `*` fits everything. Source:
 * https://www.postgresql.org/docs/current/libpq-pgpass.html. Unlike libpq, takes a file that others
 * may read, as mounted Secrets are. Throws NoPassword.
 */
export function readPassword(
  file: string,
  { host, port, database = '', user = '' }: Login,
): string {
  for (const line of readLines(file)) {
    const fields = LINE.exec(line)
      ?.slice(1)
      .map((field) => field.replaceAll(/\\(.)/g, '$1'));
    const password = fields?.pop();
    const wanted = [host, String(port), database, user];
    if (
      password !== undefined &&
      fields?.every((field, at) => field === '*' || field === wanted[at])
    )
      return password;
  }
  throw new NoPassword(
    `the password file ${file} has no line for ${host}:${port}:${database}:${user}, and the database URL has no password`,
  );
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8')
      .split(/\r?\n/)
      .filter((line) => !line.startsWith('#'));
  } catch (error) {
    throw new NoPassword(
      `the password file ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
