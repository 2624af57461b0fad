import { describe, expect, test } from '@jest/globals';
import type { Cluster } from './connect.ts';
import { answersProbe } from './probe.ts';

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
      expect(await answersProbe(cluster, signal)).toBe(true);
      expect(await answersProbe(stranger, signal)).toBe(false);
    });

    test('is over with its signal', async () => {
      expect(await answersProbe(clusters().cluster, AbortSignal.abort())).toBe(false);
    });
  });
}
