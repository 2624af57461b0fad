import { describe, expect, test } from '@jest/globals';
import type { Cluster } from './connect.ts';
import { probeCluster } from './probe.ts';

/**
 * Every cluster's answers to a probe; `stranger` has credentials that the cluster does not know.
 */
export function probeContract(
  clusters: () => { readonly cluster: Cluster; readonly stranger: Cluster },
): void {
  describe('a probe', () => {
    test('is answered only to callers that the server knows', async () => {
      const { cluster, stranger } = clusters();
      const { signal } = new AbortController();
      expect(await probeCluster(cluster, signal)).toBeUndefined();
      expect(await probeCluster(stranger, signal)).toContain('401');
    });

    test('is over with its signal', async () => {
      expect(await probeCluster(clusters().cluster, AbortSignal.abort())).toContain('abort');
    });
  });
}
