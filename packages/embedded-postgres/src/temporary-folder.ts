import { constants } from 'node:fs';
import { access, chmod, mkdtemp, readdir, rm, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'paddock-local';
const SHARED_MEMORY = '/dev/shm';
const CLUSTER_NEEDS_BYTES = 2 ** 30;

/**
 * Where temporary folders may be: files on disk, and a cluster's data in memory if there is room.
 */
export interface TemporaryPlaces {
  readonly disk: string;
  readonly memory: string | undefined;
}

/**
 * Uses memory if a gigabyte of it is free: a container has 64 MiB of /dev/shm by default, and macOS
 * has none.
 */
export async function findTemporaryPlaces(): Promise<TemporaryPlaces> {
  return { disk: tmpdir(), memory: (await hasRoom(SHARED_MEMORY)) ? SHARED_MEMORY : undefined };
}

async function hasRoom(folder: string): Promise<boolean> {
  try {
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize > CLUSTER_NEEDS_BYTES;
  } catch {
    return false;
  }
}

/**
 * Makes a folder in `place` that every account may enter and only its owner may list. Its name
 * contains this process' id, so that a later start recognises a folder left behind.
 */
export async function makeTemporaryFolder(place: string): Promise<string> {
  await sweepLeftovers(place);
  const folder = await mkdtemp(join(place, `${PREFIX}-${process.pid}-`));
  await chmod(folder, 0o711);
  return folder;
}

export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Removes folders that processes of this account left behind. */
export async function sweepLeftovers(place: string): Promise<void> {
  const names = await readdir(place);
  await Promise.all(
    names.map(async (name) => {
      const maker = new RegExp(`^${PREFIX}-(\\d+)-`).exec(name)?.[1];
      if (maker === undefined || isAlive(Number(maker))) return;
      const folder = join(place, name);
      if (await isOurs(folder)) await removeFolder(folder);
    }),
  );
}

/** Another account owns the folder, or another sweep has just removed it. */
async function isOurs(folder: string): Promise<boolean> {
  return stat(folder).then(
    ({ uid }) => uid === process.getuid?.(),
    () => false,
  );
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process is alive and belongs to another account.
    return typeof error === 'object' && error !== null && 'code' in error && error.code === 'EPERM';
  }
}
