import type { WorkerPlace } from '@paddock/db/workers/workers';
import { RUNNER_CONTAINER } from '@paddock/domain/pools/pod-template';
import { connectionProblem } from '@paddock/domain/workers/connection-problem';
import type { Cluster } from '@paddock/kube/connect';
import { jobInLog } from '@paddock/kube/job-begun';
import { findPod } from '@paddock/kube/pods';
import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';
import { examinePod, TAIL_LINES } from './examine-pod.ts';
import { keepDiagnosis } from './keep-diagnosis.ts';

/**
 * Saves why a runner that ended well never reached GitHub. The official image ends with 0 if it has
 * no registration, or one that GitHub does not know. The end stays unexplained: only GitHub can say
 * that no job ran. Returns the cause that the log shows, if there is one.
 */
export async function noteUnreached(
  { db, cluster }: { db: Kysely<Database>; cluster: Cluster },
  worker: WorkerPlace,
  signal: AbortSignal,
): Promise<string | undefined> {
  const pod = await findPod(cluster, { namespace: worker.namespace, name: worker.podName });
  if (pod === undefined) return undefined;
  const diagnosis = await examinePod(cluster, pod, 'not_registered', signal);
  const log = diagnosis.containers.find(({ name }) => name === RUNNER_CONTAINER)?.log ?? '';
  const isCut = log.split('\n').length > TAIL_LINES;
  const hasReached = isCut || jobInLog(log) !== 'silent';
  if (hasReached || connectionProblem(log) === undefined) return undefined;
  return (await keepDiagnosis(db, worker, diagnosis)) ? diagnosis.message : undefined;
}
