import type { Pool } from '@paddock/domain/pools/pool';
import type { Cluster } from './connect.ts';
import { KubeError, type KubeFailure } from './errors.ts';
import { createPod } from './pods.ts';
import { type RunnerPodSpec, runnerPod } from './runner-pod.ts';
import { createSecret, runnerSecret } from './secrets.ts';

/** What the API server has against a pod of this pool, by a dry run; undefined: nothing. */
export async function tryPool(cluster: Cluster, pool: Pool): Promise<KubeFailure | undefined> {
  const { name, namespace, image } = pool;
  const named = { ...trialOf(name), namespace };
  const failure = await tryPod(cluster, { ...pool, ...named });
  // A value that it cannot read; or the namespace's webhooks allow no dry run, of no pod.
  if (failure?.reason !== 'BadRequest') return failure;
  return (await tryPod(cluster, { ...named, image })) === undefined ? failure : undefined;
}

/** What the API server has against the Secret of a pool's worker, by a dry run; undefined: nothing. */
export const trySecret = (
  cluster: Cluster,
  { name, namespace }: Pool,
): Promise<KubeFailure | undefined> => {
  const secret = runnerSecret({ ...trialOf(name), namespace, jitConfig: 'a trial' });
  return failureOf(createSecret(cluster, secret, { dryRun: true }));
};

const trialOf = (pool: string) =>
  ({ instance: 'dry-run', pool, entityId: 0, scopeRepoId: 0, name: 'paddock-dry-run' }) as const;

const tryPod = (cluster: Cluster, pod: RunnerPodSpec): Promise<KubeFailure | undefined> =>
  failureOf(createPod(cluster, runnerPod(pod), { dryRun: true }));

const failureOf = (call: Promise<unknown>): Promise<KubeFailure | undefined> =>
  call.then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof KubeError) return error.failure;
      throw error;
    },
  );
