import type { Reaches } from '@paddock/db/outages';
import type { Db } from '@paddock/db/schema/tables';
import { findAssignedWorkers } from '@paddock/db/workers/assigned-workers';
import type { Cluster } from '@paddock/kube/connect';
import { isTransient, KubeError } from '@paddock/kube/errors';
import { annotatePod } from '@paddock/kube/pods';
import type { SchedulerEvents } from '../events.ts';

interface Parts {
  readonly db: Db;
  readonly cluster: Cluster;
  readonly reach: Pick<Reaches, 'cluster'>;
  readonly events: SchedulerEvents;
}

/**
 * Writes on each pod which job it runs, for those who look at the cluster. `noted` has the job of
 * each pod on which it is written: empty, it is written once more, which changes nothing. A
 * refusal leaves a pod as it is. A namespace that gives no answer is left to the next call.
 */
export async function noteJobs(
  { db, cluster, reach, events }: Parts,
  noted: Map<string, number>,
  signal: AbortSignal,
): Promise<void> {
  const assigned = await findAssignedWorkers(db);
  const found = new Set(assigned.map(({ podName }) => podName));
  for (const podName of noted.keys()) if (!found.has(podName)) noted.delete(podName);
  const silent = new Set<string>();
  for (const { podName, namespace, ...job } of assigned) {
    if (signal.aborted) return;
    if (silent.has(namespace) || noted.get(podName) === job.jobId) continue;
    try {
      await annotatePod(cluster, { namespace, name: podName }, job);
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      const { failure } = error;
      if (isTransient(failure) || (await reach.cluster.report())) {
        silent.add(namespace);
        continue;
      }
      events.jobNotNoted({ podName, namespace, failure });
    }
    noted.set(podName, job.jobId);
  }
}
