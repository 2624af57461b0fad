import type { WorkerToProvision } from '@paddock/db/workers/workers';
import type { Pool } from '@paddock/domain/pools/pool';
import type { WorkerIdentity } from '@paddock/kube/labels';
import { runnerPod, runnerSecret } from '@paddock/kube/runner-pod';

/** The worker's pod, as its pool is configured today. */
export const podOf = (worker: WorkerToProvision, pool: Pool): ReturnType<typeof runnerPod> =>
  runnerPod({ ...pool, ...nameOf(worker), ...identityOf(worker) });

/** The Secret from which only that pod reads the JIT config. */
export const secretOf = (worker: WorkerToProvision, jitConfig: string): ReturnType<typeof runnerSecret> =>
  runnerSecret({ ...nameOf(worker), ...identityOf(worker), jitConfig });

const nameOf = ({ podName: name, namespace }: WorkerToProvision) => ({ name, namespace });

function identityOf(worker: WorkerToProvision): WorkerIdentity {
  return {
    instance: worker.instance,
    pool: worker.pool,
    entityId: worker.entityId,
    scopeRepoId: worker.scopeRepoId,
    cluster: worker.cluster,
    ...(worker.madeForJobId === null ? {} : { madeForJobId: worker.madeForJobId }),
    ...(worker.deliveryGuid === null ? {} : { deliveryGuid: worker.deliveryGuid }),
    entity: {
      type: worker.entityType,
      name: worker.login,
      appId: worker.appId,
      installationId: worker.installationId,
      ...(worker.entityType === 'Organization' || worker.repoFullName === null ? {} : { repoFullName: worker.repoFullName }),
    },
  };
}
