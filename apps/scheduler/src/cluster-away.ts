import type { Cluster } from '@paddock/kube/connect';
import { isAway, type KubeFailure } from '@paddock/kube/errors';
import { answersProbe } from '@paddock/kube/probe';

/** What answers slower than this is not back yet. */
export const PROBE_LIMIT_MS = 3_000;

/**
 * Whether the cluster itself is away, as against what one call goes through: a pod's node, or a
 * webhook of one namespace. Then a probe, which goes through neither, is not answered. Throws once
 * the signal has aborted.
 */
export async function isClusterAway(cluster: Cluster, failure: KubeFailure, signal: AbortSignal): Promise<boolean> {
  if (!isAway(failure)) return false;
  const isAnswered = await answersProbe(cluster, AbortSignal.any([signal, AbortSignal.timeout(PROBE_LIMIT_MS)]));
  signal.throwIfAborted();
  return !isAnswered;
}
