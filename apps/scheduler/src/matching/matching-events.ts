import type { WarmScope } from '@paddock/db/matching/warm-workers';
import type { Logger } from '@paddock/runtime/logger';
import type { Metrics } from '@paddock/runtime/metrics';
import { LATENCY_BUCKETS, MOST_NAMES } from '../shared-counters.ts';
import type { Matched } from './match.ts';

/** What happens where waiting jobs are matched with workers. */
export function matchingEvents(log: Logger, metrics: Metrics) {
  const reserved = metrics.counter(
    'paddock_workers_reserved_total',
    'Workers reserved for waiting jobs, by pool',
    ['pool'],
  );
  const retiring = metrics.counter(
    'paddock_workers_retired_total',
    'Registered workers whose stop the matcher asked for: no job wanted them, or they were too old',
  );
  const unservedKeys = metrics.counter(
    'paddock_keys_unserved_total',
    'Pauses for keys to whose idle workers GitHub gave no job, by pool',
    ['pool'],
  );
  let unknownWarmTold = '';
  const matchSeconds = metrics.histogram(
    'paddock_match_duration_seconds',
    'How long passes of the matcher took',
    LATENCY_BUCKETS,
  );

  return {
    matched({ reserved: made, ended, retired, takenBack, unserved }: Matched, seconds: number) {
      matchSeconds.observe(seconds);
      for (const { pool } of made) reserved.inc({ pool });
      retiring.inc(retired.length);
      const counts = {
        reserved: made.length,
        ended: ended.length,
        retired: retired.length,
        takenBack: takenBack.length,
      };
      if (Object.values(counts).some((count) => count > 0)) log.info('demand matched', counts);
      for (const { pool, entityName, rounds, pausedUntil } of unserved) {
        unservedKeys.inc({ pool });
        log.warn(
          'GitHub gives idle runners no job although one waits: no more are made for a while; see the runner group and its access',
          {
            pool,
            entityName,
            rounds,
            pausedUntil,
          },
        );
      }
    },
    /** Told after each pass, logged when it is not as it was. */
    warmScopesUnknown(scopes: readonly WarmScope[]) {
      const said = scopes.map(({ pool, scope }) => `${pool}: ${scope}`);
      if (said.join() === unknownWarmTold) return;
      unknownWarmTold = said.join();
      if (said.length === 0) {
        log.info('all scopes that are to be kept warm are known');
        return;
      }
      log.warn(
        'no warm workers are made for these scopes: install the App on the entity or unsuspend it, name what the pool’s runners register at, or wait for the repository’s first job',
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
