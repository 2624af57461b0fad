import type { WarmScope } from '@paddock/db/matching/warm-workers';
import type { Logger } from '@paddock/runtime/logger';
import type { Metrics } from '@paddock/runtime/metrics';
import { LATENCY_BUCKETS, MOST_NAMES } from '../shared-counters.ts';
import type { Matched } from './match.ts';

/** The events of matching waiting jobs with workers. */
export function matchingEvents(log: Logger, metrics: Metrics) {
  const reserved = metrics.counter(
    'paddock_workers_reserved_total',
    'Workers reserved for waiting jobs, by pool',
    ['pool'],
  );
  const stopping = metrics.counter(
    'paddock_spare_workers_stopped_total',
    'Registered workers whose stop the matcher asked for: no job wanted them, or they were too old',
  );
  const unservedKeys = metrics.counter(
    'paddock_keys_unserved_total',
    'Pauses for keys to whose idle workers GitHub gave no job, by pool',
    ['pool'],
  );
  let reportedUnknown = '';
  const matchSeconds = metrics.histogram(
    'paddock_match_duration_seconds',
    'How long passes of the matcher took',
    LATENCY_BUCKETS,
  );

  return {
    matched({ reserved: made, ended, stopped, takenBack, unserved }: Matched, seconds: number) {
      matchSeconds.observe(seconds);
      for (const { pool } of made) reserved.inc({ pool });
      stopping.inc(stopped.length);
      const counts = {
        reserved: made.length,
        ended: ended.length,
        stopped: stopped.length,
        takenBack: takenBack.length,
      };
      if (Object.values(counts).some((count) => count > 0)) log.info('demand matched', counts);
      for (const { pool, entityName, pauses, pausedUntil } of unserved) {
        unservedKeys.inc({ pool });
        log.warn(
          'GitHub gives idle runners no job although one waits: no more are made for a while; see the runner group and its access',
          {
            pool,
            entityName,
            pauses,
            pausedUntil,
          },
        );
      }
    },
    /** Called after each pass; logs only a change. */
    warmScopesUnknown(scopes: readonly WarmScope[]) {
      const said = scopes.map(({ pool, scope }) => `${pool}: ${scope}`);
      if (said.join() === reportedUnknown) return;
      reportedUnknown = said.join();
      if (said.length === 0) {
        log.info('all scopes with warm workers are known');
        return;
      }
      log.warn(
        'made no warm workers for these scopes: install the App on the entity or unsuspend it, name a scope where the pool’s runners register, or wait for the repository’s first job',
        { count: said.length, scopes: said.slice(0, MOST_NAMES) },
      );
    },
    matchFailed(error: unknown) {
      log.error('matching failed; the next pass tries again', { error });
    },
    listenFailed(error: unknown) {
      log.warn('listening for new demand was interrupted', { error });
    },
  };
}
