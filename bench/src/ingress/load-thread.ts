import { once } from 'node:events';
import { connect } from 'node:net';
import { parentPort } from 'node:worker_threads';
import { makeDeliveries, toRequest } from './deliveries.ts';

/** The deliveries, and their receiver. */
export interface Load {
  readonly port: number;
  readonly connections: number;
  readonly firstJobId: number;
  readonly count: number;
}

/** The result. */
export interface LoadResult {
  readonly seconds: number;
  readonly latencies: Float64Array;
  /** The job of each accepted delivery. */
  readonly acceptedJobIds: readonly number[];
}

/** One connection that stays open, with one request at a time. */
interface Deliverer {
  /** Sends one whole HTTP request; resolves to the status once the whole answer has arrived. */
  deliver(request: Buffer): Promise<number>;
  close(): void;
}

const HEAD_END = '\r\n\r\n';
const STATUS = /^HTTP\/1\.1 (\d{3}) /;
const LENGTH = /\r\ncontent-length: (\d+)\r\n/i;

/**
 * Reads just the part of HTTP that answers to deliveries use. An HTTP client would use as much of
 * the same processors as the services do, and hide the differences between them.
 */
async function openDeliverer(port: number): Promise<Deliverer> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  let received = '';
  let pending: PromiseWithResolvers<number> | undefined;
  socket.setEncoding('latin1');
  socket.on('data', (text: string) => {
    received += text;
    const status = completeStatus(received);
    if (status === undefined) return;
    received = '';
    pending?.resolve(status);
  });
  const fail = (error?: Error) =>
    pending?.reject(
      error ?? new Error(`The service on port ${port} closed a connection without an answer.`),
    );
  socket.on('error', fail);
  socket.on('close', () => fail());
  return {
    deliver: (request) => {
      pending = Promise.withResolvers<number>();
      socket.write(request);
      return pending.promise;
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

async function prepare({
  port,
  connections,
  firstJobId,
  count,
}: Load): Promise<() => Promise<LoadResult>> {
  const deliveries = makeDeliveries(firstJobId, count);
  const requests = deliveries.map((delivery) => ({
    jobId: delivery.jobId,
    request: toRequest(delivery, `127.0.0.1:${port}`),
  }));
  const deliverers = await Promise.all(
    Array.from({ length: connections }, () => openDeliverer(port)),
  );
  const latencies = new Float64Array(requests.length);
  const acceptedJobIds: number[] = [];
  return async () => {
    const unsent = requests.entries();
    const begun = performance.now();
    await Promise.all(
      deliverers.map(async ({ deliver, close }) => {
        for (const [index, { jobId, request }] of unsent) {
          const sent = performance.now();
          const status = await deliver(request);
          latencies[index] = performance.now() - sent;
          if (status >= 200 && status < 300) acceptedJobIds.push(jobId);
        }
        close();
      }),
    );
    return { seconds: (performance.now() - begun) / 1_000, latencies, acceptedJobIds };
  };
}

if (parentPort === null) throw new Error('The load generator runs as a thread of the bench.');
const bench = parentPort;

// Takes a Load, reports when all is signed and connected, waits for a message, delivers, and
// reports the result; then takes the next.
for (;;) {
  const [load] = (await once(bench, 'message')) as [Load];
  const deliverAll = await prepare(load);
  bench.postMessage('ready', []);
  await once(bench, 'message');
  const result = await deliverAll();
  bench.postMessage(result, []);
}
