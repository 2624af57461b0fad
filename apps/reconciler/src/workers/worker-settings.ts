import { DAY_MS, duration, integer, tuning } from '@paddock/runtime/settings';
import { cadence } from '../schedules/cadence.ts';

/** How often to check workers and to clean up after them. */
export const workerCadences = tuning({
  checkWorkersEverySeconds: cadence(
    'PADDOCK_CHECK_WORKERS_EVERY_SECONDS',
    60,
    'How often to look for workers past a deadline',
  ),
  endedPodsEverySeconds: cadence(
    'PADDOCK_ENDED_PODS_EVERY_SECONDS',
    300,
    'How often to delete the pods of ended workers',
  ),
  registrationsEverySeconds: cadence(
    'PADDOCK_REGISTRATIONS_EVERY_SECONDS',
    1_800,
    'How often to list GitHub’s runners, to remove ours without a live worker',
  ),
});

/** Deadlines of workers besides those of each pool, and when to clean up after workers. */
export const workerSettings = {
  ...tuning({
    stopAlertMs: duration({
      env: 'PADDOCK_STOP_ALERT_MS',
      default: 3_600_000,
      doc: 'How long a worker that cannot be stopped waits before it is reported',
    }),
  }),
  podGraceSucceededMs: duration({
    env: 'PADDOCK_POD_GRACE_SUCCEEDED_MS',
    default: 21_600_000,
    max: 90 * DAY_MS,
    doc: 'How long to keep the pod of a worker that succeeded',
  }),
  podGraceFailedMs: duration({
    env: 'PADDOCK_POD_GRACE_FAILED_MS',
    default: 21_600_000,
    max: 90 * DAY_MS,
    doc: 'How long to keep the pod of a failed worker. Raise it to have more time to examine one',
  }),
  endedPodsPerNamespace: integer({
    env: 'PADDOCK_ENDED_PODS_PER_NAMESPACE',
    default: 2_000,
    min: 0,
    max: 1_000_000,
    doc: 'Most pods of ended workers in a namespace. Above it, the oldest are deleted early, succeeded ones first',
  }),
  strayRegistrationCap: integer({
    env: 'PADDOCK_STRAY_REGISTRATION_CAP',
    default: 50,
    min: 0,
    max: 10_000,
    doc: 'If a pass finds more of our runners that no worker’s row names, it removes none of them, since our rows may be wrong. Raise it once you have checked them',
  }),
  ...tuning({
    runnerReadingsApartMs: duration({
      env: 'PADDOCK_RUNNER_READINGS_APART_MS',
      default: 60_000,
      doc: 'Time between two look-ups of a runner past a deadline',
    }),
    runnerOfflineMs: duration({
      env: 'PADDOCK_RUNNER_OFFLINE_MS',
      default: 600_000,
      doc: 'How long GitHub must call the runner of a running pod offline before the worker is stopped',
    }),
    forgottenStopMs: duration({
      env: 'PADDOCK_FORGOTTEN_STOP_MS',
      default: 120_000,
      doc: 'Age at which a stop without a task gets one',
    }),
    registrationGraceMs: duration({
      env: 'PADDOCK_REGISTRATION_GRACE_MS',
      default: 1_200_000,
      max: 90 * DAY_MS,
      doc: 'How long lists must show one of our runners offline and without a live worker before its registration is removed',
    }),
  }),
};
