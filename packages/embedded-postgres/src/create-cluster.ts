import { execFile } from 'node:child_process';
import { chown, mkdir, mkdtemp, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { everyoneMayEnter } from './native-files.ts';
import type { ServerAccount } from './server-account.ts';
import { removeFolder } from './temporary-folder.ts';

const run = promisify(execFile);

export interface NewCluster {
  readonly nativeFiles: string;
  readonly dataDir: string;
  readonly account: ServerAccount | undefined;
  readonly environment: NodeJS.ProcessEnv;
  /** Whether to wait until the new files are on the disk. */
  readonly durable: boolean;
}

/**
 * Makes a PostgreSQL cluster in `dataDir` unless there is one: superuser `postgres` without a
 * password, UTF-8, C locale. It makes the cluster beside `dataDir` and renames it, so an
 * interrupted start leaves no half of a cluster under that name.
 */
export async function createCluster({
  nativeFiles,
  dataDir,
  account,
  environment,
  durable,
}: NewCluster): Promise<void> {
  if (await holdsCluster(dataDir)) return;
  const parent = dirname(dataDir);
  await mkdir(parent, { recursive: true });
  if (account && !(await everyoneMayEnter(parent))) {
    throw new Error(
      `PostgreSQL cannot keep its data in ${dataDir}: root starts it as the account "nobody", which may not enter ${parent}. Choose another folder.`,
    );
  }
  const unfinished = await mkdtemp(`${dataDir}.new-`);
  try {
    if (account) await chown(unfinished, account.uid, account.gid);
    const flags = [
      '--username=postgres',
      '--auth=trust',
      '--encoding=UTF8',
      '--locale=C',
      '--no-instructions',
    ];
    if (!durable) flags.push('--no-sync');
    await run(join(nativeFiles, 'bin', 'initdb'), ['--pgdata', unfinished, ...flags], {
      ...account,
      cwd: '/',
      env: environment,
    });
    await rename(unfinished, dataDir);
  } catch (error) {
    await removeFolder(unfinished);
    // Another start at the same time was first, and its cluster is as good as ours.
    if (await holdsCluster(dataDir)) return;
    throw new Error(`PostgreSQL could not create a cluster in ${dataDir}: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

async function holdsCluster(dataDir: string): Promise<boolean> {
  return stat(join(dataDir, 'PG_VERSION')).then(
    () => true,
    () => false,
  );
}

function reasonOf(error: unknown): string {
  if (!isObject(error)) return String(error);
  // The file exists: the system lacks the loader that the file names.
  if (error['code'] === 'ENOENT')
    return 'its binaries do not run on this system. They need glibc 2.27 or newer, not musl.';
  const said = typeof error['stderr'] === 'string' ? error['stderr'].trim() : '';
  return said === '' ? String(error['message']) : said;
}

/** Not `instanceof Error`: where tests run, an error of Node itself is of another realm. */
function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
