import { PER_PAGE } from '@paddock/github/read-pages';
import {
  ACTIVE_MS,
  LOOK_UPS_OF_A_PASS,
  LOOK_UPS_PER_KEY,
  QUEUED_AT_MOST_MS,
  READS_OF_A_MINUTE,
  RECOVERY_LIMIT,
  SILENCE_MS,
} from '@paddock/reconciler/jobs/job-sweeps';
import { lookBackMs } from '@paddock/reconciler/redelivery/redeliver';
import { cadenceOf } from '@paddock/reconciler/schedules/nominal-tick';
import { HOURLY } from '@paddock/reconciler/schedules/sweep-schedules';
import {
  GIVE_UP_AFTER_MS,
  HAND_OVER_ABOVE,
  LOG_WINDOW_MS,
  MOST_PAGES,
} from '@paddock/reconciler/sweeps';
import { MOST_PODS, MOST_REGISTRATIONS } from '@paddock/reconciler/workers/worker-sweeps';
import { code, type NumberRow, row, rule, setting, testOf } from './number-row.ts';

const spacing = testOf(
  'apps/reconciler/src/redelivery/redeliver.db.test.ts',
  'a delivery that fails again is requested after 5, 5, 5, 10, 20, 40, then 60 minutes, counted from the last request',
);

/** The reconciler: missed deliveries and jobs, and rows to remove. */
export const recovery: readonly NumberRow[] = [
  row('E1', '5 min', 'Cadence of redelivery', rule('reconciler', 'redeliveryEverySeconds')),
  row(
    'P4',
    '100',
    'Deliveries that one call lists',
    code('PER_PAGE in packages/github/src/read-pages.ts', () => PER_PAGE),
  ),
  row(
    'E1',
    '15 min',
    'How far back each cycle reads the log',
    code('LOG_WINDOW_MS in apps/reconciler/src/sweeps.ts', () => LOG_WINDOW_MS),
  ),
  row(
    'E1',
    '3',
    'Fewest cadences that it reads back',
    code(
      'lookBackMs in apps/reconciler/src/redelivery/redeliver.ts',
      () => lookBackMs({ windowMs: 0, everySeconds: 1 }) / 1_000,
    ),
  ),
  row(
    'E1',
    '100',
    'Most pages of one cycle; the next goes on',
    code('MOST_PAGES in apps/reconciler/src/sweeps.ts', () => MOST_PAGES),
  ),
  row('E1', '5 min', 'Wait after the first request for one delivery', spacing),
  row('E1', '5 min', 'Wait after the third request', spacing),
  row('E1', '40 min', 'Wait after the sixth request', spacing),
  row('E1', '60 min', 'Wait after each later request', spacing),
  row(
    'E1',
    '150 a minute',
    'Most requests of one App; GitHub allows 180',
    rule('reconciler', 'redeliveryRequestsPerMinute'),
  ),
  row(
    'E1',
    '72 h',
    'Age at which a delivery is given up; GitHub keeps none longer',
    code('GIVE_UP_AFTER_MS in apps/reconciler/src/sweeps.ts', () => GIVE_UP_AFTER_MS),
  ),
  row(
    'E1',
    '500',
    'Number of unresolved deliveries above which discovery begins with their repositories',
    code('HAND_OVER_ABOVE in apps/reconciler/src/sweeps.ts', () => HAND_OVER_ABOVE),
  ),
  row(
    'E2',
    '5 min',
    'How often an active repository is read',
    rule('reconciler', 'discoverRepositoryEveryMs'),
  ),
  row(
    'E2',
    '5 min',
    'How often each of 100 repositories of an installation is read, without a job or push too',
    testOf(
      'apps/reconciler/src/jobs/rounds.db.test.ts',
      'of 100 takes five minutes, with one call for each, which is free while nothing changes',
    ),
  ),
  row(
    'E2',
    '24 h',
    'How long a repository is active after its last run or push',
    code('ACTIVE_MS in apps/reconciler/src/jobs/job-sweeps.ts', () => ACTIVE_MS),
  ),
  row(
    'E2',
    '100',
    'Most resting repositories of an installation that are read in a minute',
    code('READS_OF_A_MINUTE in apps/reconciler/src/jobs/job-sweeps.ts', () => READS_OF_A_MINUTE),
  ),
  row(
    'P4',
    '2 %',
    'Share of an installation’s budget that one pass of discovery may use',
    rule('reconciler', 'discoverBudgetPercent'),
  ),
  row(
    'E2',
    '1 h',
    'Longest time until a new repository is known',
    rule('reconciler', 'discoverListEveryMs'),
  ),
  row(
    'E3',
    '10 min',
    'Time after which a job is stuck if it waits without a reason, or its worker has ended',
    rule('reconciler', 'stuckAfterMs'),
  ),
  row(
    'E3',
    '3',
    'Recoveries of a job before it may fail',
    code('RECOVERY_LIMIT in apps/reconciler/src/jobs/job-sweeps.ts', () => RECOVERY_LIMIT),
  ),
  row(
    'E3',
    '24 h',
    'How long GitHub must be silent before a job fails without its answer',
    code('SILENCE_MS in apps/reconciler/src/jobs/job-sweeps.ts', () => SILENCE_MS),
  ),
  row(
    'E3',
    '48 h',
    'Age at which GitHub itself has ended such a job',
    code('QUEUED_AT_MOST_MS in apps/reconciler/src/jobs/job-sweeps.ts', () => QUEUED_AT_MOST_MS),
  ),
  row(
    'E3',
    '1 min',
    'How often jobs in doubt are looked for, and GitHub is asked about them',
    rule('reconciler', 'lookUpJobsEverySeconds'),
  ),
  row(
    'A6',
    '60 s',
    'Time between the two answers that fail a job or make it demand again',
    rule('reconciler', 'secondLookMs'),
  ),
  row(
    'E4',
    '1 h',
    'Age at which a held-back job is first looked up',
    rule('reconciler', 'heldLookUpFirstMs'),
  ),
  row(
    'E4',
    '6 h',
    'Longest time between two such look-ups; until then it doubles',
    rule('reconciler', 'heldLookUpLongestMs'),
  ),
  row(
    'E4',
    '1 min',
    'Wait before an unanswered look-up is repeated; then twice as long each time, up to an hour',
    rule('reconciler', 'lookUpRetryMs'),
  ),
  row(
    'P4',
    '250',
    'Most jobs of one pass of look-ups',
    code('LOOK_UPS_OF_A_PASS in apps/reconciler/src/jobs/job-sweeps.ts', () => LOOK_UPS_OF_A_PASS),
  ),
  row(
    'P4',
    '10',
    'Most jobs of a key that are looked up after an unexplained end',
    code('LOOK_UPS_PER_KEY in apps/reconciler/src/jobs/job-sweeps.ts', () => LOOK_UPS_PER_KEY),
  ),
  row(
    'P4',
    '25 %',
    'Share of an installation’s budget that one pass of look-ups may use',
    rule('reconciler', 'lookUpBudgetPercent'),
  ),
  row(
    'H4',
    '1 h',
    'How often the Apps’ rights and installations are checked',
    code(
      'HOURLY in apps/reconciler/src/schedules/sweep-schedules.ts',
      () => cadenceOf(HOURLY) * 1_000,
    ),
  ),
  row(
    'A12',
    '20',
    'Most installations that a believed list may lack',
    setting('PADDOCK_INSTALLATIONS_GONE_AT_MOST'),
  ),
  row(
    'E6',
    '30 min',
    'How often GitHub’s runners are listed, to remove those without a live worker',
    rule('reconciler', 'registrationsEverySeconds'),
  ),
  row(
    'E6',
    '20 min',
    'How long lists must show a registration unused and without a live worker before it is removed',
    rule('reconciler', 'registrationGraceMs'),
  ),
  row(
    'E6',
    '300',
    'Most registrations that one pass removes',
    code(
      'MOST_REGISTRATIONS in apps/reconciler/src/workers/worker-sweeps.ts',
      () => MOST_REGISTRATIONS,
    ),
  ),
  row(
    'E6',
    '50',
    'Most registrations that no row names of one pass; with more, none of these is removed',
    setting('PADDOCK_STRAY_REGISTRATION_CAP'),
  ),
  row(
    'A3',
    '6 h',
    'How long the pod of a succeeded worker is kept',
    setting('PADDOCK_POD_GRACE_SUCCEEDED_MS'),
  ),
  row(
    'A3',
    '6 h',
    'How long the pod of a failed worker is kept',
    setting('PADDOCK_POD_GRACE_FAILED_MS'),
  ),
  row(
    'E7',
    '2 000',
    'Most pods of ended workers in a namespace',
    rule('reconciler', 'endedPodsPerNamespace'),
  ),
  row(
    'E7',
    '10 000',
    'Most pods that one pass deletes',
    code('MOST_PODS in apps/reconciler/src/workers/worker-sweeps.ts', () => MOST_PODS),
  ),
  row(
    'E7',
    '90 d',
    'How long ended jobs are kept, and events but those of installations and refusals',
    setting('PADDOCK_KEEP_DAYS'),
  ),
  row(
    'P5',
    '24 h',
    'How long reasons that jobs waited for are kept',
    rule('reconciler', 'keepWaitReasonsHours'),
  ),
];
