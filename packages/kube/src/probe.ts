import { callText } from './call.ts';
import type { Cluster } from './connect.ts';
import { classifyKubeError, isUnanswered } from './errors.ts';

/**
 * Asks the API server for its version, which passes no node, webhook or quota. Resolves to
 * undefined if it answers, else to why not. Never throws.
 */
export async function probeCluster(
  cluster: Cluster,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    await callText(cluster, { method: 'GET', path: '/version', signal });
    return undefined;
  } catch (error) {
    const failure = classifyKubeError(error);
    return isUnanswered(failure) ? failure.message : undefined;
  }
}
