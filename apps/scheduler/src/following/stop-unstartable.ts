import { requestStops } from '@paddock/db/workers/request-stops';
import { findUnstartableWorkers, type UnstartableWorker } from '@paddock/db/workers/stuck-pods';
import type { Database } from '@paddock/db/schema/tables';
import { stopTask } from '@paddock/domain/tasks/worker-tasks';
import type { Cluster } from '@paddock/kube/connect';
import { isAway, KubeError } from '@paddock/kube/errors';
import { podEvents } from '@paddock/kube/events';
import { isPulling } from '@paddock/kube/is-pulling';
import { enqueue } from '@paddock/queue/enqueue';
import type { Kysely } from 'kysely';
import type { SchedulerEvents } from '../events.ts';

/**
 * By then a kubelet has pulled three times: it tries again after 10 s, then 20 s. A registry that
 * hiccups has answered one of them.
 */
const FAILING_MS = 30_000;

/**
 * What a pool whose image only some nodes can pull may cost: each success of a trial lets all that
 * wait be made again.
 */
const BOUND = { windowMs: 15 * 60_000, mostOfPool: 60 };

/** The follower makes a call for each before it looks at its namespaces again. */
const MOST_AT_ONCE = 20;

/**
 * Asks for the stop of workers whose pods cannot start, for their image or their configuration:
 * another takes the place, as the pool's breaker allows (C11). One whose image is being pulled
 * again is left alone. Returns how many are to be stopped.
 */
export async function stopUnstartable(
  { db, cluster, events }: { db: Kysely<Database>; cluster: Cluster; events: Pick<SchedulerEvents, 'unstartableStopped'> },
  signal: AbortSignal,
): Promise<number> {
  const hopeless: UnstartableWorker[] = [];
  for (const worker of await findUnstartableWorkers(db, { afterMs: FAILING_MS, ...BOUND, mostAtOnce: MOST_AT_ONCE })) {
    const progress = await lookAtPull(cluster, worker, signal);
    if (progress === 'unknown' || signal.aborted) break;
    if (progress === 'none') hopeless.push(worker);
  }
  if (hopeless.length === 0) return 0;
  const asked = await db.transaction().execute(async (trx) => {
    const podNames = await requestStops(trx, hopeless);
    await enqueue(trx, podNames.map(stopTask));
    return new Set(podNames);
  });
  events.unstartableStopped(hopeless.filter(({ podName }) => asked.has(podName)));
  return asked.size;
}

/**
 * Whether its image is on its way after all; unknown while the API server is away, or once the
 * signal has aborted. Events that cannot be read show no progress.
 */
async function lookAtPull(
  cluster: Cluster,
  { podName: name, namespace, podUid: uid, reason }: UnstartableWorker,
  signal: AbortSignal,
): Promise<'pulling' | 'none' | 'unknown'> {
  if (reason !== 'image_pull') return 'none';
  try {
    return isPulling(await podEvents(cluster, { namespace, name, uid }, signal)) ? 'pulling' : 'none';
  } catch (error) {
    if (signal.aborted) return 'unknown';
    if (!(error instanceof KubeError)) throw error;
    return isAway(error.failure) ? 'unknown' : 'none';
  }
}
