import { findAssets } from '@paddock/testing/played-nodes';
import type { Bench } from '../bench.ts';
import { alignColumns, quantileOf, toHundredths } from '../figures.ts';
import { measure } from './measure.ts';
import { startSystem } from './system.ts';

export const kube: Bench = {
  about:
    'pods on a real API server with nodes that KWOK plays: making and following them, with CPU time and memory (needs KUBEBUILDER_ASSETS)',
  size: { flag: 'pods', usual: 5_000, least: 10, most: 10_000 },
  async run(pods, say) {
    const assets = findAssets();
    if (assets === undefined) {
      const programs = 'etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kwok';
      throw new Error(
        `bench kube needs a real API server: set KUBEBUILDER_ASSETS to a folder with ${programs}.`,
      );
    }
    say(
      'starting etcd, the API server, its controllers, KWOK, PostgreSQL, the simulated GitHub and one scheduler',
    );
    const system = await startSystem(assets);
    try {
      const { seconds, latenciesMs, followerMb } = await measure(system, pods, say);
      const result = {
        pods_per_second: toHundredths(pods / seconds),
        event_to_row_ms: {
          p50: toHundredths(quantileOf(latenciesMs, 0.5)),
          p99: toHundredths(quantileOf(latenciesMs, 0.99)),
        },
        follower_rss_mb: toHundredths(followerMb),
        pods,
      };
      const rows = [
        ['', 'pods/s', 'p50 ms', 'p99 ms', 'RSS MB'],
        ['pods with Secrets', String(result.pods_per_second), '', '', ''],
        [
          'pod event → row',
          '',
          String(result.event_to_row_ms.p50),
          String(result.event_to_row_ms.p99),
          '',
        ],
        [`follower, ${pods} pods`, '', '', '', String(result.follower_rss_mb)],
      ];
      return { table: alignColumns(rows), result };
    } finally {
      await system.close();
    }
  },
};
