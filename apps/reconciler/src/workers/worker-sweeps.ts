import { counting, type Sweep, type SweepContext } from '../sweep.ts';
import { checkRunnerVersions } from './check-runner-versions.ts';
import { checkWorkers } from './check-workers.ts';
import { deleteEndedPods } from './delete-ended-pods.ts';
import { removeRegistrations } from './remove-registrations.ts';

/** Most stops that one pass requests: if all readings are wrong, few workers suffer. */
const MOST_STOPS = 100;

/** Most workers past a deadline that one pass checks. */
const MOST_OVERDUE = 1_000;

const PODS_AT_ONCE = 8;
/** Most pods that one pass deletes. */
const MOST_PODS = 10_000;
/** Most registrations that one pass removes, with two calls to GitHub each. */
const MOST_REGISTRATIONS = 300;
/**
 * Scopes with a worker this young are listed: GitHub deletes an unused registration after a day.
 */
const SCOPES_WITHIN_MS = 86_400_000;

/** The sweeps that check workers and clean up after them. */
export function workerSweeps({ db, github, cluster, config, events }: SweepContext) {
  return {
    'check-workers': counting(1, (pass) =>
      checkWorkers(
        {
          db,
          github,
          events,
          query: {
            readingsApartMs: config.runnerReadingsApartMs,
            appIds: github.appIds,
            limit: MOST_OVERDUE,
          },
          cap: MOST_STOPS,
          offlineMs: config.runnerOfflineMs,
          forgottenAfterMs: config.forgottenStopMs,
          alertAfterMs: config.stopAlertMs,
        },
        pass,
      ),
    ),
    'check-runner-versions': counting(1, (pass) =>
      checkRunnerVersions({ db, github, cluster, events }, pass),
    ),
    'delete-ended-pods': counting(1, (pass) =>
      deleteEndedPods(
        {
          db,
          cluster,
          events,
          succeededGraceMs: config.podGraceSucceededMs,
          failedGraceMs: config.podGraceFailedMs,
          keptPerNamespace: config.endedPodsPerNamespace,
          cap: MOST_PODS,
          atOnce: PODS_AT_ONCE,
        },
        pass,
      ),
    ),
    'remove-registrations': counting(1, (pass) =>
      removeRegistrations(
        {
          db,
          github,
          cluster,
          events,
          madeWithinMs: SCOPES_WITHIN_MS,
          graceMs: config.registrationGraceMs,
          cap: MOST_REGISTRATIONS,
          strayCap: config.strayRegistrationCap,
        },
        pass,
      ),
    ),
  } satisfies Readonly<Record<string, Sweep>>;
}
