import { callText } from './call.ts';
import type { Cluster } from './connect.ts';
import { isAway, KubeError } from './errors.ts';

/**
 * Whether the API server answers us: asked for its version, which it reads nowhere. One that is busy, or does not know us, does not. Never
 * throws; false too once the signal has aborted.
 */
export async function answersProbe(cluster: Cluster, signal: AbortSignal): Promise<boolean> {
  try {
    await callText(cluster, { method: 'GET', path: '/version', signal });
    return true;
  } catch (error) {
    if (!(error instanceof KubeError)) return false;
    const { failure } = error;
    return !isAway(failure) && failure.kind !== 'too_many_requests' && failure.kind !== 'unauthorized';
  }
}
