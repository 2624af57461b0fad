import { integer } from '@paddock/runtime/settings';
import { cadence, DAY_MS, duration } from '../duration-settings.ts';

/** How often workers are looked after. */
export const workerCadences = {
  checkWorkersEverySeconds: cadence('PADDOCK_CHECK_WORKERS_EVERY_SECONDS', 'How often workers past a deadline are looked for', 60),
  checkRunnerVersionsEverySeconds: cadence(
    'PADDOCK_CHECK_RUNNER_VERSIONS_EVERY_SECONDS',
    'How often the version of each pool’s newest runner is read from its log',
    3_600,
  ),
};

/** When a worker is past a deadline, beside what each pool says, and what is done about it. */
export const workerSettings = {
  stopCap: integer({
    env: 'PADDOCK_STOP_CAP',
    doc: 'Most workers whose stop one pass asks for',
    default: 100,
    min: 0,
    max: 10_000,
  }),
  runnerReadingsApartMs: duration(
    'PADDOCK_RUNNER_READINGS_APART_MS',
    'How long after GitHub was asked about a runner past a deadline it is asked again',
    60_000,
    DAY_MS,
  ),
  runnerOfflineMs: duration(
    'PADDOCK_RUNNER_OFFLINE_MS',
    'How long GitHub has to call the runner of a running pod offline before it is stopped',
    600_000,
    DAY_MS,
  ),
  deadlineLeniencyMs: duration(
    'PADDOCK_DEADLINE_LENIENCY_MS',
    'How long after a worker’s end at a deadline the pool’s next ones get twice the time, after two such ends four times',
    21_600_000,
    7 * DAY_MS,
  ),
  forgottenStopMs: duration('PADDOCK_FORGOTTEN_STOP_MS', 'Age at which a stop without a task is taken up again', 120_000, DAY_MS),
  stopAlertMs: duration('PADDOCK_STOP_ALERT_MS', 'How long a worker that cannot be stopped waits before it is reported', 3_600_000, DAY_MS),
};
