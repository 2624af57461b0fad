import type { Db } from '@paddock/db/schema/tables';
import { currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import { saveDiagnosis } from '@paddock/db/workers/workers';
import type { Cluster } from '@paddock/kube/connect';
import { podEvents } from '@paddock/kube/events';
import { asUnreadable, readLog, type Unreadable } from '@paddock/kube/logs';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { diagnose, type Diagnosis, withoutLogs } from './diagnosis.ts';

export const TAIL_LINES = 200;

/**
 * Reads the logs and events of a pod and describes why it failed, is stuck, or has a runner that
 * GitHub does not see. `rowReason` is the reason in the worker's row. Names logs and events that
 * cannot be read as missing, so that a worker's end never waits for them.
 */
export async function examinePod(
  cluster: Cluster,
  pod: ObservedPod,
  rowReason: string | null,
  signal: AbortSignal,
): Promise<Diagnosis> {
  const { namespace, name } = pod;
  const logs = new Map<string, string | Unreadable>();
  for (const { name: container, state } of pod.containers) {
    if (state !== 'running' && state !== 'terminated') continue;
    const tail = { namespace, name, container, tailLines: TAIL_LINES };
    logs.set(container, await readLog(cluster, tail, signal));
  }
  const events = await podEvents(cluster, pod).catch(asUnreadable);
  return diagnose(pod, logs, events, rowReason);
}

/**
 * Saves a worker's diagnosis, without its logs if the pool keeps none. Returns false if the
 * worker's state allows no diagnosis now.
 */
export async function keepDiagnosis(
  db: Db,
  { podName, pool }: { readonly podName: string; readonly pool: string },
  diagnosis: Diagnosis,
): Promise<boolean> {
  const pools = (await currentPoolsDocument(db))?.document.pools ?? [];
  const { keepLogs = true } = pools.find(({ name }) => name === pool) ?? {};
  return saveDiagnosis(db, podName, keepLogs ? diagnosis : withoutLogs(diagnosis));
}
