import type { PodToAdopt } from '@paddock/db/workers/adopt-workers';
import type { ObservedPod } from '@paddock/kube/observed-pod';

/** At most this long, of `[a-z0-9-]`: what a worker's row takes as a name. */
const NAME = /^[a-z0-9][a-z0-9-]{0,58}[a-z0-9]$/;

/**
 * What a pod says of the worker that it is (E6). Undefined: its labels cannot be read, or its name is none that we give, as of a copy that
 * somebody made of a pod of ours for debugging.
 */
export function podToAdopt(pod: ObservedPod): PodToAdopt | undefined {
  const { worker } = pod;
  if (worker === undefined || !NAME.test(pod.name) || !pod.name.startsWith(`pdk-${worker.instance}-`)) return undefined;
  return {
    podName: pod.name,
    podUid: pod.uid,
    podCreatedAt: pod.createdAt,
    namespace: pod.namespace,
    cluster: worker.cluster ?? null,
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
