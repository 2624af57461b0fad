import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createCluster, type NewCluster } from './create-cluster.ts';

describe('createCluster', () => {
  let place: string;
  const cluster = (name: string, rest: Partial<NewCluster> = {}): NewCluster => ({
    nativeFiles: join(place, 'native'),
    dataDir: join(place, name),
    account: undefined,
    environment: { PATH: '/usr/bin:/bin' },
    durable: false,
    ...rest,
  });

  beforeAll(async () => {
    place = await mkdtemp(join(tmpdir(), 'clusters-'));
    await mkdir(join(place, 'native', 'bin'), { recursive: true });
  });

  afterAll(() => rm(place, { recursive: true }));

  test('when its binaries do not run here, says what the system lacks and leaves nothing', async () => {
    await expect(createCluster(cluster('foreign'))).rejects.toThrow(
      /could not create a cluster in .*foreign.*need glibc/,
    );
    expect(await readdir(place)).toEqual(['native']);
  });

  test('passes on the error of initdb, and leaves nothing', async () => {
    const initdb = join(place, 'native', 'bin', 'initdb');
    await writeFile(initdb, '#!/bin/sh\necho "no room left" >&2\nexit 1\n');
    await chmod(initdb, 0o755);
    await expect(createCluster(cluster('full'))).rejects.toThrow(/full: no room left$/);
    expect(await readdir(place)).toEqual(['native']);
  });

  test('refuses a folder that the server’s account may not enter, before it makes anything', async () => {
    await chmod(place, 0o700);
    const refused = createCluster(cluster('private', { account: { uid: 65534, gid: 65534 } }));
    await expect(refused).rejects.toThrow(
      /root starts it as the account "nobody", which may not enter .*Choose another folder/,
    );
  });
});
