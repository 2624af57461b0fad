import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { makeTemporaryFolder, removeFolder, sweepLeftovers } from './temporary-folder.ts';

describe('temporary folders', () => {
  let place: string;

  beforeAll(async () => {
    place = await mkdtemp(join(tmpdir(), 'place-'));
  });

  afterAll(() => removeFolder(place));

  test('a sweep removes folders of processes that are gone, and nothing else', async () => {
    const gone = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
    await once(gone, 'exit');
    const mine = await makeTemporaryFolder(place);
    await mkdir(join(place, `paddock-local-${gone.pid}-abc`));
    await mkdir(join(place, `paddock-local-${gone.pid}-abc`, 'data'));
    await mkdir(join(place, `paddock-${gone.pid}-abc`));
    await mkdir(join(place, `paddock-local-${process.ppid}-abc`));

    await sweepLeftovers(place);

    const left = (await readdir(place)).map((name) => join(place, name));
    expect(left.toSorted()).toEqual(
      [
        mine,
        join(place, `paddock-${gone.pid}-abc`),
        join(place, `paddock-local-${process.ppid}-abc`),
      ].toSorted(),
    );
  });
});
