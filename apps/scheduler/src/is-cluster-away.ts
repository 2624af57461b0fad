import type { Cluster } from '@paddock/kube/connect';
import { isAway, type KubeFailure } from '@paddock/kube/errors';
import { answersProbe } from '@paddock/kube/probe';

/** A cluster that answers slower than this is not back yet. */
export const PROBE_LIMIT_MS = 3_000;

/**
 * Whether the API server is away, and not only a pod's node or a namespace's webhook: a probe
 * passes neither. Throws if the signal has aborted.
 */
export async function isClusterAway(
  cluster: Cluster,
  failure: KubeFailure,
  signal: AbortSignal,
): Promise<boolean> {
  if (!isAway(failure)) return false;
  const isAnswered = await answersProbe(
    cluster,
    AbortSignal.any([signal, AbortSignal.timeout(PROBE_LIMIT_MS)]),
  );
  signal.throwIfAborted();
  return !isAnswered;
}
