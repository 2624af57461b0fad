import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { waitFor } from '@paddock/testing/wait-for';
import { isFree } from './free-port.ts';
import { installedNativeFiles } from './native-files.ts';
import { type Postgres, startPostgres } from './start-postgres.ts';

const onShippedMachines = isShipped() ? describe : describe.skip;

onShippedMachines('startPostgres', () => {
  let place: string;

  beforeAll(async () => {
    place = await mkdtemp(join(tmpdir(), 'postgres-data-'));
    await chmod(place, 0o711);
  });

  afterAll(() => rm(place, { recursive: true, force: true }));

  test('a temporary server accepts connections, and leaves nothing when stopped once or twice', async () => {
    const log: string[] = [];
    const postgres = await startPostgres({ onLog: (line) => log.push(line) });
    expect(postgres.url('jobs')).toBe(`postgresql://postgres@127.0.0.1:${postgres.port}/jobs`);
    expect(await answersSslRequest(postgres.port)).toBe('N');
    expect(log.join('\n')).toContain('ready to accept connections');

    await Promise.all([postgres.stop(), postgres.stop({ mode: 'immediate' })]);
    await postgres.stop();

    expect(await isFree(postgres.port)).toBe(true);
    expect(await exists(postgres.dataDir)).toBe(false);
    await expect(postgres.resume()).rejects.toThrow('stopped for good');
  });

  test('a server halted in any mode resumes with the same data on the same port', async () => {
    const postgres = await startPostgres();
    try {
      const cluster = await systemFile(postgres);
      for (const mode of ['smart', 'fast', 'immediate'] as const) {
        await postgres.halt({ mode });
        await postgres.halt();
        expect(await isFree(postgres.port)).toBe(true);
        await postgres.resume();
        await postgres.resume();
        expect(await answersSslRequest(postgres.port)).toBe('N');
      }
      expect(await systemFile(postgres)).toBe(cluster);
    } finally {
      await postgres.stop();
    }
  });

  test('data in a given folder outlives the server, and only one server may use it at a time', async () => {
    const dataDir = join(place, 'kept', 'data');
    const first = await startPostgres({ dataDir });
    const cluster = await systemFile(first);
    await expect(startPostgres({ dataDir })).rejects.toThrow(`PostgreSQL did not start on port`);
    expect(await answersSslRequest(first.port)).toBe('N');
    await first.stop();

    const second = await startPostgres({ dataDir, port: first.port });
    expect(second.port).toBe(first.port);
    expect(await systemFile(second)).toBe(cluster);
    await second.stop();
    expect(await exists(join(dataDir, 'PG_VERSION'))).toBe(true);
  });

  test('two simultaneous starts on one new folder make one cluster and one server', async () => {
    const dataDir = join(place, 'raced');
    const starts = await Promise.allSettled([
      startPostgres({ dataDir }),
      startPostgres({ dataDir }),
    ]);
    const started = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
    expect(started).toHaveLength(1);
    await Promise.all(started.map(({ stop }) => stop()));
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

/** The instant at which the cluster was made: it identifies the cluster. */
async function systemFile({ dataDir }: Postgres): Promise<number> {
  return (await stat(join(dataDir, 'PG_VERSION'))).mtimeMs;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
