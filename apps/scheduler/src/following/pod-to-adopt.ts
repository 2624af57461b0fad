import type { PodToAdopt } from '@paddock/db/workers/registrations';
import { isWorkerName } from '@paddock/domain/workers/worker-name';
import type { ObservedPod } from '@paddock/kube/observed-pod';

/**
 * The worker that a pod's labels and name describe. Undefined if the labels cannot be read, or if
 * the name is not ours, such as that of a copy made for debugging.
 */
export function podToAdopt(pod: ObservedPod): PodToAdopt | undefined {
  const { worker } = pod;
  if (worker === undefined || !isWorkerName(pod.name, worker.instance)) return undefined;
  return {
    podName: pod.name,
    podUid: pod.uid,
    podCreatedAt: pod.createdAt,
    namespace: pod.namespace,
    pool: worker.pool,
    image: pod.image ?? null,
    entityId: worker.entityId,
    scopeRepoId: worker.scopeRepoId,
    madeForJobId: worker.madeForJobId ?? null,
    deliveryGuid: worker.deliveryGuid ?? null,
    entityType: worker.entity?.type ?? null,
    entityName: worker.entity?.name ?? null,
    appId: worker.entity?.appId ?? null,
    installationId: worker.entity?.installationId ?? null,
    repoFullName: worker.entity?.repoFullName ?? null,
  };
}
