import { once } from 'node:events';
import { parentPort } from 'node:worker_threads';
import { makeDeliveries, type Mix, toRequest } from './deliveries.ts';
import { openDeliverer } from './deliverer.ts';

/** The deliveries, and their receiver. */
export interface Load {
  readonly port: number;
  readonly mix: Mix;
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

async function prepare({
  port,
  mix,
  connections,
  firstJobId,
  count,
}: Load): Promise<() => Promise<LoadResult>> {
  const deliveries = makeDeliveries(mix, firstJobId, count);
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
