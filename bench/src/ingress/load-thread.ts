import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { makeRequests } from './deliveries.ts';

/** The deliveries, and their receiver. */
export interface Load {
  readonly port: number;
  readonly connections: number;
  readonly firstJobId: number;
  readonly count: number;
  /** The receiver, and the PostgreSQL that it writes to. */
  readonly cpuOf: { readonly pid: number; readonly dataDir: string };
}

export interface LoadResult {
  readonly seconds: number;
  /** Of each delivery, in milliseconds. */
  readonly latencies: Float64Array;
  /** How many deliveries were not accepted. */
  readonly refused: number;
  readonly cpuSeconds: { readonly service: number; readonly postgres: number };
}

const HEAD_END = '\r\n\r\n';
const STATUS = /^HTTP\/1\.1 (\d{3}) /;
const LENGTH = /\r\ncontent-length: (\d+)\r\n/i;

/**
 * Opens one connection that stays open, for one whole HTTP request at a time; returns its sender,
 * which resolves to the status. It reads just the part of HTTP that answers to deliveries use: an
 * HTTP client would use as much of the same processors as the services do, and hide the differences
 * between them.
 */
async function openConnection(port: number) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true }).setEncoding('latin1');
  const closed = new AbortController();
  socket.once('close', () => closed.abort());
  await once(socket, 'connect');
  return {
    async deliver(request: Buffer): Promise<number> {
      socket.write(request);
      for (let received = ''; ;) {
        received += String(await once(socket, 'data', { signal: closed.signal }));
        const status = completeStatus(received);
        if (status !== undefined) return status;
      }
    },
    close: () => void socket.destroy(),
  };
}

/** The status of an answer, or undefined while some of it is still to come. */
function completeStatus(received: string): number | undefined {
  const headEnd = received.indexOf(HEAD_END);
  if (headEnd === -1) return undefined;
  const head = received.slice(0, headEnd + 2);
  const [, status] = STATUS.exec(head) ?? [];
  const [, length] = LENGTH.exec(head) ?? [];
  if (status === undefined || length === undefined)
    throw new Error(`This is not an answer to a delivery: ${head}`);
  return received.length < headEnd + HEAD_END.length + Number(length) ? undefined : Number(status);
}

/** Delivers once all is signed and connected. */
async function deliverAll({ port, connections, firstJobId, count, cpuOf }: Load) {
  const requests = await makeRequests(firstJobId, count, `127.0.0.1:${port}`);
  const opened = await Promise.all(Array.from({ length: connections }, () => openConnection(port)));
  const latencies = new Float64Array(requests.length);
  let refused = 0;
  const unsent = requests.entries();
  const before = await readCpuSeconds(cpuOf);
  const begun = performance.now();
  await Promise.all(
    opened.map(async ({ deliver, close }) => {
      for (const [index, request] of unsent) {
        const sent = performance.now();
        const status = await deliver(request);
        latencies[index] = performance.now() - sent;
        if (status >= 300) refused += 1;
      }
      close();
    }),
  );
  const seconds = (performance.now() - begun) / 1_000;
  const after = await readCpuSeconds(cpuOf);
  const cpuSeconds = {
    service: after.service - before.service,
    postgres: after.postgres - before.postgres,
  };
  return { seconds, latencies, refused, cpuSeconds } satisfies LoadResult;
}

/** USER_HZ: Linux always shows 100 in /proc. */
const TICKS_PER_SECOND = 100;

/**
 * CPU seconds so far of a process with its threads, and of the PostgreSQL server with its data in
 * `dataDir`: its first process, its living children, and those that have ended, whose time the first
 * process has taken over. NaN where there is no /proc.
 */
async function readCpuSeconds({ pid, dataDir }: Load['cpuOf']): Promise<LoadResult['cpuSeconds']> {
  const [first] = (await readFile(join(dataDir, 'postmaster.pid'), 'utf8')).split('\n', 1);
  const all = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const stats = (await Promise.all(all.map(readStat))).flat();
  const sum = (ticks: (stat: (typeof stats)[number]) => number): number =>
    stats.length === 0
      ? Number.NaN
      : stats.reduce((total, stat) => total + ticks(stat), 0) / TICKS_PER_SECOND;
  return {
    service: sum(({ id, own }) => (id === String(pid) ? own : 0)),
    postgres: sum(({ id, parent, own, ended }) => {
      if (id === first) return own + ended;
      return parent === first ? own : 0;
    }),
  };
}

/** Clock ticks of a process in user and system mode, and of its children that have ended. */
async function readStat(id: string) {
  // It may have ended meanwhile.
  const text = await readFile(`/proc/${id}/stat`, 'utf8').catch(() => undefined);
  // The name, in parentheses, may contain anything. The fields after it are numbers; the state is
  // the third field of all.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  if (fields === undefined) return [];
  const field = (position: number): number => Number(fields[position - 3]);
  return [
    { id, parent: String(field(4)), own: field(14) + field(15), ended: field(16) + field(17) },
  ];
}

if (parentPort === null) throw new Error('The load generator runs as a thread of the bench.');
for (;;) {
  const [load] = (await once(parentPort, 'message')) as [Load];
  parentPort.postMessage(await deliverAll(load), []);
}
