import { DEFAULT_DEADLINES } from '@paddock/domain/pools/deadlines';
import { MOST_STOPS } from '@paddock/reconciler/workers/worker-sweeps';
import { MOST_RUNS } from '@paddock/scheduler/stopping/read-evidence';
import { code, type NumberRow, row, rule, testOf } from './number-row.ts';

const deadline = (name: keyof typeof DEFAULT_DEADLINES) =>
  code(
    'DEFAULT_DEADLINES in packages/domain/src/pools/deadlines.ts',
    () => DEFAULT_DEADLINES[name] * 1_000,
  );

/** When a worker is given up, and the proofs that no job runs on it. */
export const stopping: readonly NumberRow[] = [
  row('E5', '900 s', 'Time for a pod to start', deadline('pendingDeadlineSeconds')),
  row(
    'E5',
    '300 s',
    'Time for a runner to be online at GitHub',
    deadline('registrationDeadlineSeconds'),
  ),
  row('E5', '600 s', 'How long a runner may be without a job', deadline('idleDeadlineSeconds')),
  row(
    'E5',
    '60 s',
    'How often workers past a deadline are looked for',
    rule('reconciler', 'checkWorkersEverySeconds'),
  ),
  row(
    'E5',
    '60 s',
    'Shortest time between two readings of one runner at GitHub',
    rule('reconciler', 'runnerReadingsApartMs'),
  ),
  row(
    'E5',
    '10 min',
    'How long GitHub must call the runner of a running pod offline before its stop',
    rule('reconciler', 'runnerOfflineMs'),
  ),
  row(
    'E5',
    '100',
    'Most stops that one pass requests',
    code('MOST_STOPS in apps/reconciler/src/workers/worker-sweeps.ts', () => MOST_STOPS),
  ),
  row(
    'P2',
    '60 s',
    'Time between the two readings that call a runner idle',
    rule('scheduler', 'stopIdleApartMs'),
  ),
  row(
    'P2',
    '100',
    'Most runs that one attempt reads where the log proves nothing; the next attempt reads on',
    code('MOST_RUNS in apps/scheduler/src/stopping/read-evidence.ts', () => MOST_RUNS),
  ),
  row(
    'P2',
    '30 s',
    'Time from a runner’s removal at GitHub to the last look at its log',
    rule('scheduler', 'stopLastLookMs'),
  ),
  row(
    'E5',
    '30 s',
    'Wait before a prevented stop is tried again',
    rule('scheduler', 'stopRetryMs'),
  ),
  row(
    'A3',
    '10 min',
    'How long GitHub must call a runner without a pod offline, or one whose log proves nothing idle, before its row ends',
    rule('scheduler', 'stopOfflineMs'),
  ),
  row(
    'A3',
    '7 d',
    'Time without a pod after which a row ends if GitHub does not answer',
    testOf(
      'packages/domain/src/workers/stop-steps.test.ts',
      'GitHub’s word is not needed where no runner can still live: %s (A3)',
    ),
  ),
  row(
    'E5',
    '2 min',
    'Age at which a stop that lost its task gets another',
    rule('reconciler', 'forgottenStopMs'),
  ),
  row(
    'E5',
    '1 h',
    'Time after which a worker that cannot be stopped is reported',
    rule('reconciler', 'stopAlertMs'),
  ),
];
