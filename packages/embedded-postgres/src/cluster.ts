import { execFile } from 'node:child_process';
import { chown, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { assertEnterable, type ServerAccount } from './native-files.ts';

const run = promisify(execFile);

export interface NewCluster {
  readonly nativeFiles: string;
  readonly dataDir: string;
  readonly account: ServerAccount;
  readonly environment: NodeJS.ProcessEnv;
}

const INITDB =
  '--username=postgres --auth=trust --encoding=UTF8 --locale=C --no-instructions --no-sync'.split(
    ' ',
  );

/**
 * Makes a PostgreSQL cluster in the new folder `dataDir`: superuser `postgres` without a password,
 * UTF-8, C locale.
 */
export async function createCluster({
  nativeFiles,
  dataDir,
  account,
  environment,
}: NewCluster): Promise<void> {
  await mkdir(dataDir);
  if (account) {
    await assertEnterable(dirname(dataDir));
    await chown(dataDir, account.uid, account.gid);
  }
  const options = { ...account, cwd: '/', env: environment };
  try {
    await run(join(nativeFiles, 'bin', 'initdb'), ['--pgdata', dataDir, ...INITDB], options);
  } catch (error) {
    throw new Error(`PostgreSQL could not create a cluster in ${dataDir}: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

function reasonOf(error: unknown): string {
  // Not `instanceof Error`: where tests run, an error of Node itself is of another realm.
  const { code, stderr = '' } = Object(error) as { code?: unknown; stderr?: string };
  // The file exists: the system lacks the loader that the file names.
  if (code === 'ENOENT')
    return 'its binaries do not run on this system. They need glibc 2.27 or newer, not musl.';
  return stderr.trim() || String(error);
}
