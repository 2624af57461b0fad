import { PER_PAGE } from '@paddock/github/read-pages';
import { settings } from '@paddock/reconciler/config';
import {
  ACTIVE_MS,
  LOOK_UPS_OF_A_PASS,
  LOOK_UPS_PER_KEY,
  QUEUED_AT_MOST_MS,
  RECOVERY_LIMIT,
  SILENCE_MS,
} from '@paddock/reconciler/jobs/job-sweeps';
import { requestSpacingMs } from '@paddock/reconciler/redelivery/delivery-log';
import { lookBackMs } from '@paddock/reconciler/redelivery/redeliver';
import { sweepSchedules } from '@paddock/reconciler/schedules/sweep-schedules';
import {
  GIVE_UP_AFTER_MS,
  HAND_OVER_ABOVE,
  LOG_WINDOW_MS,
  MOST_PAGES,
} from '@paddock/reconciler/sweeps';
import { MOST_PODS, MOST_REGISTRATIONS } from '@paddock/reconciler/workers/worker-sweeps';
import { code, type NumberRow, row, setting, testOf } from './number-row.ts';

const spacing = (requests: number) =>
  code('requestSpacingMs in apps/reconciler/src/redelivery/delivery-log.ts', () =>
    requestSpacingMs(requests, settings.redeliverySpacingMs.default ?? Number.NaN),
  );

const everyMs = (name: string): number | undefined => {
  const schedule = sweepSchedules({ github: { apps: [] } } as never).find(
    (one) => one.name === name,
  );
  return schedule === undefined ? undefined : schedule.everySeconds * 1_000;
};

/** The reconciler: what was missed, and what is to go. */
export const recovery: readonly NumberRow[] = [
  row(
    'E1',
    '5 min',
    'Look through each App’s log of deliveries: every',
    setting('PADDOCK_REDELIVERY_EVERY_SECONDS'),
  ),
  row(
    'P4',
    '100',
    'Deliveries that one call lists',
    code('PER_PAGE in packages/github/src/read-pages.ts', () => PER_PAGE),
  ),
  row(
    'E1',
    '15 min',
    'How far back each look goes',
    code('LOG_WINDOW_MS in apps/reconciler/src/sweeps.ts', () => LOG_WINDOW_MS),
  ),
  row(
    'E1',
    '3',
    'Cadences that it goes back at least',
    code(
      'lookBackMs in apps/reconciler/src/redelivery/redeliver.ts',
      () => lookBackMs({ windowMs: 0, everySeconds: 1 }) / 1_000,
    ),
  ),
  row(
    'E1',
    '100',
    'Most pages of one look; the next goes on',
    code('MOST_PAGES in apps/reconciler/src/sweeps.ts', () => MOST_PAGES),
  ),
  row('E1', '5 min', 'Wait after the first request for one delivery', spacing(1)),
  row('E1', '5 min', 'After the third', spacing(3)),
  row('E1', '40 min', 'After the sixth', spacing(6)),
  row('E1', '60 min', 'After each later one', spacing(7)),
  row(
    'E1',
    '150 a minute',
    'Most such requests of one App; GitHub allows 180',
    setting('PADDOCK_REDELIVERY_REQUESTS_PER_MINUTE'),
  ),
  row(
    'E1',
    '72 h',
    'Age at which a delivery is given up; GitHub keeps none for longer',
    code('GIVE_UP_AFTER_MS in apps/reconciler/src/sweeps.ts', () => GIVE_UP_AFTER_MS),
  ),
  row(
    'E1',
    '500',
    'Unresolved deliveries above which discovery begins with their repositories',
    code('HAND_OVER_ABOVE in apps/reconciler/src/sweeps.ts', () => HAND_OVER_ABOVE),
  ),
  row(
    'E2',
    '5 min',
    'Look at an active repository: every',
    setting('PADDOCK_DISCOVER_REPOSITORY_EVERY_MS'),
  ),
  row(
    'E2',
    '6 h',
    'Look at one that rests: every',
    testOf(
      'apps/reconciler/src/jobs/discover-resting.db.test.ts',
      'the only job of one, from a schedule, is found within six hours',
    ),
  ),
  row(
    'E2',
    '24 h',
    'Time for which a repository is active after its last run or push',
    code('ACTIVE_MS in apps/reconciler/src/jobs/job-sweeps.ts', () => ACTIVE_MS),
  ),
  row(
    'E2',
    '20',
    'Most active repositories that one pass looks at',
    setting('PADDOCK_DISCOVER_REPOSITORIES'),
  ),
  row(
    'P4',
    '2 %',
    'Share of an installation’s budget that one pass of discovery may use',
    setting('PADDOCK_DISCOVER_BUDGET_PERCENT'),
  ),
  row(
    'E2',
    '1 h',
    'Longest time until a new repository is known',
    setting('PADDOCK_DISCOVER_LIST_EVERY_MS'),
  ),
  row(
    'E3',
    '10 min',
    'Time after which a job is stuck that waits without a reason, or whose worker has ended',
    setting('PADDOCK_STUCK_JOB_AFTER_MS'),
  ),
  row('E3', '1 min', 'Look for stuck jobs: every', setting('PADDOCK_RECOVER_JOBS_EVERY_SECONDS')),
  row(
    'E3',
    '3',
    'Recoveries of a job before it may fail',
    code('RECOVERY_LIMIT in apps/reconciler/src/jobs/job-sweeps.ts', () => RECOVERY_LIMIT),
  ),
  row(
    'E3',
    '24 h',
    'Silence of GitHub before a job fails without its word',
    code('SILENCE_MS in apps/reconciler/src/jobs/job-sweeps.ts', () => SILENCE_MS),
  ),
  row(
    'E3',
    '48 h',
    'Age at which GitHub itself has ended such a job',
    code('QUEUED_AT_MOST_MS in apps/reconciler/src/jobs/job-sweeps.ts', () => QUEUED_AT_MOST_MS),
  ),
  row(
    'E4',
    '1 min',
    'Questions to GitHub about jobs in doubt: every',
    setting('PADDOCK_LOOK_UP_JOBS_EVERY_SECONDS'),
  ),
  row(
    'A6',
    '60 s',
    'Time between the two answers by which a job fails or is demand again',
    setting('PADDOCK_SECOND_LOOK_MS'),
  ),
  row(
    'E4',
    '1 h',
    'Age at which GitHub is first asked about a job that is held back',
    setting('PADDOCK_HELD_LOOK_UP_FIRST_MS'),
  ),
  row(
    'E4',
    '6 h',
    'Longest time between two such questions; until then it doubles',
    setting('PADDOCK_HELD_LOOK_UP_LONGEST_MS'),
  ),
  row(
    'E4',
    '5 min',
    'Wait before a question that was not answered is asked again',
    setting('PADDOCK_LOOK_UP_RETRY_MS'),
  ),
  row(
    'P4',
    '250',
    'Most jobs that one pass asks about',
    code('LOOK_UPS_OF_A_PASS in apps/reconciler/src/jobs/job-sweeps.ts', () => LOOK_UPS_OF_A_PASS),
  ),
  row(
    'P4',
    '10',
    'Most jobs of a key that are asked about after an unexplained end',
    code('LOOK_UPS_PER_KEY in apps/reconciler/src/jobs/job-sweeps.ts', () => LOOK_UPS_PER_KEY),
  ),
  row(
    'P4',
    '25 %',
    'Share of an installation’s budget that one such pass may use',
    setting('PADDOCK_LOOK_UP_BUDGET_PERCENT'),
  ),
  row(
    'H4',
    '1 h',
    'Check of the Apps’ rights and installations: every',
    code('sweepSchedules in apps/reconciler/src/schedules/sweep-schedules.ts', () =>
      everyMs('check-apps'),
    ),
  ),
  row(
    'A12',
    '20',
    'Most installations that a list may lack and be believed',
    setting('PADDOCK_INSTALLATIONS_GONE_AT_MOST'),
  ),
  row(
    'E6',
    '10 min',
    'Time for which the registration of a failed worker is left alone',
    setting('PADDOCK_REGISTRATION_GRACE_MS'),
  ),
  row(
    'E6',
    '50',
    'Most registrations of failed workers that one pass removes',
    code(
      'MOST_REGISTRATIONS in apps/reconciler/src/workers/worker-sweeps.ts',
      () => MOST_REGISTRATIONS,
    ),
  ),
  row(
    'E6',
    '1 h',
    'Time that a runner without a worker is offline before its registration is removed',
    setting('PADDOCK_STRAY_REGISTRATION_GRACE_MS'),
  ),
  row(
    'E6',
    '50',
    'Most of these in one pass; with more none is removed',
    setting('PADDOCK_STRAY_REGISTRATION_CAP'),
  ),
  row(
    'A3',
    '6 h',
    'Time for which the pod of a worker that ended well is kept',
    setting('PADDOCK_POD_GRACE_SUCCEEDED_MS'),
  ),
  row(
    'A3',
    '6 h',
    'Time for which that of a failed one is kept',
    setting('PADDOCK_POD_GRACE_FAILED_MS'),
  ),
  row(
    'E7',
    '2 000',
    'Most pods of ended workers in a namespace',
    setting('PADDOCK_ENDED_PODS_PER_NAMESPACE'),
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
    'Time for which events are kept, but for those of installations and refusals',
    setting('PADDOCK_KEEP_EVENTS_DAYS'),
  ),
  row('E7', '90 d', 'Time for which ended jobs are kept', setting('PADDOCK_KEEP_JOBS_DAYS')),
];
