import { callText } from './call.ts';
import type { Cluster } from './connect.ts';
import { isAway, KubeError } from './errors.ts';

/**
 * Whether the API server answers a call for its version. False if it is busy, refuses our
 * credentials, or the signal has aborted. Never throws.
 */
export async function answersProbe(cluster: Cluster, signal: AbortSignal): Promise<boolean> {
  try {
    await callText(cluster, { method: 'GET', path: '/version', signal });
    return true;
  } catch (error) {
    if (!(error instanceof KubeError)) return false;
    const { failure } = error;
    return (
      !isAway(failure) && failure.kind !== 'too_many_requests' && failure.kind !== 'unauthorized'
    );
  }
}
