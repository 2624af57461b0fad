import { findWorkerPlace, markSecretDeleted } from '@paddock/db/workers/workers';
import { deleteSecret } from '@paddock/kube/secrets';
import type { Handler } from '@paddock/queue/kind';
import { done, poison } from '@paddock/queue/outcome';
import type { Diagnosing } from './diagnose-pod.ts';

/**
 * Deletes an ended worker's Secret; its pod stays readable for hours. A Secret that is already gone
 * counts as deleted.
 */
export function createRemoveSecret({ db, cluster }: Diagnosing): Handler {
  return async (task) => {
    const worker = await findWorkerPlace(db, task.subject.id);
    if (worker === undefined) return poison(`there is no worker named ${task.subject.id}`);
    if (worker.status === 'pending' || worker.status === 'running')
      return done({ kept: worker.status });
    const { namespace, podName: name } = worker;
    const secret = await deleteSecret(cluster, { namespace, name });
    await markSecretDeleted(db, worker.podName);
    return done({ secret });
  };
}
