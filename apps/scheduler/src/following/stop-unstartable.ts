import { requestStops } from '@paddock/db/workers/worker-stops';
import { findUnstartableWorkers, type UnstartableWorker } from '@paddock/db/workers/stuck-pods';
import { stopTask } from '@paddock/domain/tasks/worker-tasks';
import type { Cluster } from '@paddock/kube/connect';
import { isAway, KubeError } from '@paddock/kube/errors';
import { isPulling, podEvents } from '@paddock/kube/events';
import { enqueue } from '@paddock/queue/enqueue';
import type { Recording } from './record-pods.ts';

/** By then a kubelet has pulled three times: at once, after 10 s, and 20 s later. */
const FAILING_MS = 30_000;

/**
 * Limits what a pool costs whose image only some nodes can pull: each success lets all waiting
 * workers be made again.
 */
const BOUND = { windowMs: 15 * 60_000, mostOfPool: 60 };

/** The follower makes one call for each before it checks its namespaces again. */
const MOST_AT_ONCE = 20;

/**
 * Requests the stop of workers whose pods cannot start because of their image or configuration. The
 * matcher replaces them as far as their key's failures allow. Leaves a worker alone while its image is
 * being pulled. Returns how many stops it requested.
 */
export async function stopUnstartable(
  { db, cluster, events }: Recording & { readonly cluster: Cluster },
  signal: AbortSignal,
): Promise<number> {
  const unstartable: UnstartableWorker[] = [];
  for (const worker of await findUnstartableWorkers(db, {
    afterMs: FAILING_MS,
    ...BOUND,
    mostAtOnce: MOST_AT_ONCE,
  })) {
    const progress = await readPullProgress(cluster, worker, signal);
    if (progress === 'unknown' || signal.aborted) break;
    if (progress === 'none') unstartable.push(worker);
  }
  if (unstartable.length === 0) return 0;
  const requested = await db.transaction().execute(async (trx) => {
    const workers = await requestStops(trx, unstartable);
    await enqueue(trx, workers.map(stopTask));
    return new Set(workers.map(({ podName }) => podName));
  });
  const stopped = unstartable.filter(({ podName }) => requested.has(podName));
  for (const ofPool of Map.groupBy(stopped, ({ pool }) => pool).values())
    events.unstartableStopped(ofPool);
  return requested.size;
}

/**
 * Whether the image is being pulled. 'unknown' while the API server is away, or after an abort.
 * Events that cannot be read count as no progress.
 */
async function readPullProgress(
  cluster: Cluster,
  { podName: name, namespace, podUid: uid, reason }: UnstartableWorker,
  signal: AbortSignal,
): Promise<'pulling' | 'none' | 'unknown'> {
  if (reason !== 'image_pull') return 'none';
  try {
    return isPulling(await podEvents(cluster, { namespace, name, uid }, signal))
      ? 'pulling'
      : 'none';
  } catch (error) {
    if (signal.aborted) return 'unknown';
    if (!(error instanceof KubeError)) throw error;
    return isAway(error.failure) ? 'unknown' : 'none';
  }
}
