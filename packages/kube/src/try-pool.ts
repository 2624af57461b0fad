import type { Pool } from '@paddock/domain/pools/pool';
import type { Cluster } from './connect.ts';
import { KubeError, type KubeFailure } from './errors.ts';
import { createPod } from './pods.ts';
import { type RunnerPodSpec, runnerPod } from './runner-pod.ts';

/** What the API server has against a pod of this pool, by a dry run; undefined: nothing. */
export async function tryPool(cluster: Cluster, pool: Pool): Promise<KubeFailure | undefined> {
  const { name, namespace, image } = pool;
  const identity = { instance: 'dry-run', pool: name, entityId: 0, scopeRepoId: 0 };
  const named = { ...identity, name: 'paddock-dry-run', namespace };
  const failure = await tryPod(cluster, { ...pool, ...named });
  // A value that it cannot read; or the namespace's webhooks allow no dry run, of no pod.
  if (failure?.reason !== 'BadRequest') return failure;
  return (await tryPod(cluster, { ...named, image })) === undefined ? failure : undefined;
}

const tryPod = (cluster: Cluster, pod: RunnerPodSpec): Promise<KubeFailure | undefined> =>
  createPod(cluster, runnerPod(pod), { dryRun: true }).then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof KubeError) return error.failure;
      throw error;
    },
  );
