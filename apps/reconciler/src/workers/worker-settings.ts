import { DAY_MS, duration, tuning } from '@paddock/runtime/settings';
import { cadence } from '../schedules/cadence.ts';

/** How often to check workers. */
export const workerCadences = tuning({
  checkWorkersEverySeconds: cadence('PADDOCK_CHECK_WORKERS_EVERY_SECONDS', 60, 'How often to look for workers past a deadline'),
});

/** Deadlines of workers, besides those of each pool. */
export const workerSettings = {
  stopAlertMs: duration({
    env: 'PADDOCK_STOP_ALERT_MS',
    default: 3_600_000,
    doc: 'How long a worker that cannot be stopped waits before it is reported',
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
    deadlineLeniencyMs: duration({
      env: 'PADDOCK_DEADLINE_LENIENCY_MS',
      default: 21_600_000,
      max: 7 * DAY_MS,
      doc: 'After a worker ended at a deadline: how long the next ones of its pool get twice the time, after two such ends four times',
    }),
    forgottenStopMs: duration({
      env: 'PADDOCK_FORGOTTEN_STOP_MS',
      default: 120_000,
      doc: 'Age at which a stop without a task gets one',
    }),
  }),
};
