import { constants } from 'node:fs';
import { access, chmod, mkdtemp, readdir, rm, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'paddock-local';
const SHARED_MEMORY = '/dev/shm';
const CLUSTER_NEEDS_BYTES = 2 ** 30;

/**
 * Where a cluster's data may be in memory; undefined unless a gigabyte of it is free: a container
 * has 64 MiB of /dev/shm by default, and macOS has none.
 */
export async function findPlaceInMemory(): Promise<string | undefined> {
  try {
    await access(SHARED_MEMORY, constants.R_OK | constants.W_OK | constants.X_OK);
    const { bavail, bsize } = await statfs(SHARED_MEMORY);
    return bavail * bsize > CLUSTER_NEEDS_BYTES ? SHARED_MEMORY : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Makes a folder in `place` (by default the system's) that every account may enter and only its owner may list. Its name
 * contains this process' id, so that a later start recognises a folder left behind.
 */
export async function makeTemporaryFolder(place = tmpdir()): Promise<string> {
  await sweepLeftovers(place);
  const folder = await mkdtemp(join(place, `${PREFIX}-${process.pid}-`));
  await chmod(folder, 0o711);
  return folder;
}

export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Removes folders that processes of this account left behind. */
async function sweepLeftovers(place: string): Promise<void> {
  const names = await readdir(place);
  await Promise.all(
    names.map(async (name) => {
      const maker = new RegExp(`^${PREFIX}-(\\d+)-`).exec(name)?.[1];
      if (maker === undefined || isAlive(Number(maker))) return;
      const folder = join(place, name);
      // Another sweep may have removed it just now.
      const owner = await stat(folder).catch(() => undefined);
      if (owner?.uid === process.getuid?.()) await removeFolder(folder);
    }),
  );
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process is alive and belongs to another account.
    return (Object(error) as { code?: unknown }).code === 'EPERM';
  }
}
