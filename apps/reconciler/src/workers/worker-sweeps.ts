import { breakerRules } from '@paddock/db/breakers/breaker-settings';
import { checkRunnerVersions } from './check-runner-versions.ts';
import { checkWorkers } from './check-workers.ts';
import { counting, type Sweep } from '../sweep.ts';
import type { SweepContext } from '../sweep-context.ts';

/** Most stops that one pass requests: if all readings are wrong, few workers suffer. */
export const MOST_STOPS = 100;

/** Most workers past a deadline that one pass checks. */
const MOST_OVERDUE = 1_000;

/** The sweeps that check workers. */
export function workerSweeps({ db, github, cluster, config, events }: SweepContext) {
  return {
    'check-workers': counting(1, ({ signal, dryRun }) =>
      checkWorkers(
        {
          db,
          github,
          events,
          query: {
            readingsApartMs: config.runnerReadingsApartMs,
            leniencyMs: config.deadlineLeniencyMs,
            appIds: github.appIds,
            limit: MOST_OVERDUE,
          },
          breakerRules: breakerRules(config),
          cap: MOST_STOPS,
          offlineMs: config.runnerOfflineMs,
          forgottenAfterMs: config.forgottenStopMs,
          alertAfterMs: config.stopAlertMs,
          dryRun,
        },
        signal,
      ),
    ),
    'check-runner-versions': counting(1, ({ signal, dryRun }) => checkRunnerVersions({ db, github, cluster, events, dryRun }, signal)),
  } satisfies Readonly<Record<string, Sweep>>;
}
