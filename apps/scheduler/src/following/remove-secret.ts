import type { Database } from '@paddock/db/schema/tables';
import { findWorkerPlace, markSecretDeleted } from '@paddock/db/workers/workers';
import type { Cluster } from '@paddock/kube/connect';
import { deleteSecret } from '@paddock/kube/secrets';
import type { Handler } from '@paddock/queue/kind';
import { done, poison } from '@paddock/queue/outcome';
import type { Kysely } from 'kysely';

/**
 * Deletes an ended worker's Secret; its pod stays readable for hours. A Secret that is already gone
 * counts as deleted.
 */
export function createRemoveSecret({
  db,
  cluster,
}: {
  db: Kysely<Database>;
  cluster: Cluster;
}): Handler {
  return async (task) => {
    const worker = await findWorkerPlace(db, task.subject.id);
    if (worker === undefined) return poison(`there is no worker named ${task.subject.id}`);
    if (worker.status === 'pending' || worker.status === 'running')
      return done({ kept: worker.status });
    const secret = await deleteSecret(cluster, {
      namespace: worker.namespace,
      name: worker.podName,
    });
    await markSecretDeleted(db, worker.podName);
    return done({ secret });
  };
}
