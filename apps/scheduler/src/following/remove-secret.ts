import { findWorkerPlace, markSecretDeleted } from '@paddock/db/workers/workers';
import { deleteHookObjects } from '@paddock/kube/hook-objects';
import { deleteSecret } from '@paddock/kube/secrets';
import { done, type Handler, poison } from '@paddock/queue/kind';
import type { Diagnosing } from './diagnose-pod.ts';

/**
 * Deletes an ended worker's Secret, and what its runner's hooks have left of a job; its pod stays
 * readable for hours. What is already gone counts as deleted.
 */
export function createRemoveSecret({ db, cluster }: Diagnosing): Handler {
  return async (task) => {
    const worker = await findWorkerPlace(db, task.subject.id);
    if (worker === undefined) return poison(`there is no worker named ${task.subject.id}`);
    if (worker.status === 'pending' || worker.status === 'running')
      return done({ kept: worker.status });
    const at = { namespace: worker.namespace, name: worker.podName };
    const calls = [
      deleteSecret(cluster, at),
      worker.hasHooks ? deleteHookObjects(cluster, at) : Promise.resolve(undefined),
    ] as const;
    // What cannot be deleted keeps nothing else.
    await Promise.allSettled(calls);
    const [secret, hookObjects] = await Promise.all(calls);
    await markSecretDeleted(db, worker.podName);
    return done({ secret, hookObjects });
  };
}
