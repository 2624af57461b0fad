import { once } from 'node:events';
import { connect } from 'node:net';
import { parentPort } from 'node:worker_threads';
import { cpuSecondsOf, postgresCpuSeconds } from '../cpu-time.ts';
import { makeDeliveries, toRequest } from './deliveries.ts';

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
  const requests = makeDeliveries(firstJobId, count).map((delivery) =>
    toRequest(delivery, `127.0.0.1:${port}`),
  );
  const opened = await Promise.all(Array.from({ length: connections }, () => openConnection(port)));
  const latencies = new Float64Array(requests.length);
  let refused = 0;
  const unsent = requests.entries();
  const cpu = async () => ({
    service: await cpuSecondsOf(cpuOf.pid),
    postgres: await postgresCpuSeconds(cpuOf.dataDir),
  });
  const before = await cpu();
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
  const after = await cpu();
  const cpuSeconds = {
    service: after.service - before.service,
    postgres: after.postgres - before.postgres,
  };
  return { seconds, latencies, refused, cpuSeconds } satisfies LoadResult;
}

if (parentPort === null) throw new Error('The load generator runs as a thread of the bench.');
for (;;) {
  const [load] = (await once(parentPort, 'message')) as [Load];
  parentPort.postMessage(await deliverAll(load), []);
}
