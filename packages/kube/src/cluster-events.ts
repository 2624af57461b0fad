import type { Metrics } from '@paddock/runtime/metrics';
import { isAway, type KubeFailure } from './errors.ts';
import type { ReachabilityEvents } from './reachability.ts';

/** The methods of a logger that this file uses. */
type Log = Readonly<Record<'warn' | 'info', (message: string, fields: object) => unknown>>;

/** The level of a failed call: `clusterEvents` already logs an absent API server, once. */
export const levelOf = (failure: KubeFailure) => (isAway(failure) ? 'debug' : 'warn');

/**
 * The metric and log lines of an API server that goes away and comes back, alike in all services.
 */
export function clusterEvents(metrics: Metrics, log: Log): ReachabilityEvents {
  const away = metrics.gauge(
    'paddock_cluster_away',
    '1 while this process gets no answers from the API server',
  );
  away.set(0);
  return {
    away(failure) {
      away.set(1);
      log.warn('the API server is away: tasks that need it wait, without a log line each', {
        failure,
      });
    },
    back({ ms, failedCalls }) {
      away.set(0);
      log.info('the API server is back', { awaySeconds: Math.round(ms / 1_000), failedCalls });
    },
  };
}
