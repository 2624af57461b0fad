import { integer } from '@paddock/runtime/settings';
import { cadence, DAY_MS, duration } from '../duration-settings.ts';

/** How often GitHub's truth is looked for. */
export const jobCadences = {
  recoverJobsEverySeconds: cadence('PADDOCK_RECOVER_JOBS_EVERY_SECONDS', 'How often stuck jobs are looked for', 60),
  lookUpJobsEverySeconds: cadence('PADDOCK_LOOK_UP_JOBS_EVERY_SECONDS', 'How often GitHub is asked about jobs in doubt', 60),
  discoverJobsEverySeconds: cadence(
    'PADDOCK_DISCOVER_JOBS_EVERY_SECONDS',
    'How often repositories are picked in which jobs are looked for',
    60,
  ),
  checkAppsEverySeconds: cadence('PADDOCK_CHECK_APPS_EVERY_SECONDS', 'How often the Apps’ rights and installations are checked', 3_600),
};

/** When a job is in doubt, and what is done about it. */
export const jobSettings = {
  stuckAfterMs: {
    ...duration(
      'PADDOCK_STUCK_JOB_AFTER_MS',
      'How long a job may wait without a reason, or run after its worker’s end, before it is stuck; also between two recoveries',
      600_000,
      DAY_MS,
    ),
    formerly: 'PADDOCK_STUCK_AFTER_MS',
  },
  recoveryLimit: integer({
    env: 'PADDOCK_RECOVERY_LIMIT',
    doc: 'Recoveries of a stuck job after which it is reported, and may fail if GitHub cannot be asked',
    default: 3,
    min: 1,
    max: 1000,
  }),
  recoverySilenceMinutes: integer({
    env: 'PADDOCK_RECOVERY_SILENCE_MINUTES',
    doc: 'How long GitHub must have been silent about a stuck job before it fails without GitHub’s word',
    default: 1440,
    min: 1,
    max: 43_200,
  }),
  queuedAtMostHours: integer({
    env: 'PADDOCK_QUEUED_AT_MOST_HOURS',
    doc: 'How long GitHub keeps a job in its queue: no older one fails without GitHub’s word for waiting alone',
    default: 48,
    min: 1,
    max: 720,
  }),
  heldLookUpFirstMs: duration(
    'PADDOCK_HELD_LOOK_UP_FIRST_MS',
    'Age at which GitHub is first asked about a job that is held back',
    3_600_000,
  ),
  heldLookUpLongestMs: duration(
    'PADDOCK_HELD_LOOK_UP_LONGEST_MS',
    'Longest time between two such questions; until then it doubles',
    21_600_000,
  ),
  lookUpBatch: integer({
    env: 'PADDOCK_LOOK_UP_BATCH',
    doc: 'Most jobs in doubt about which one pass asks GitHub',
    default: 250,
    min: 1,
    max: 10_000,
  }),
  lookUpPerKey: integer({
    env: 'PADDOCK_LOOK_UP_PER_KEY',
    doc: 'How many of the oldest waiting jobs of an account and pool are looked up after a runner ended whose job is unknown',
    default: 10,
    min: 1,
    max: 1000,
  }),
  lookUpBudgetPercent: integer({
    env: 'PADDOCK_LOOK_UP_BUDGET_PERCENT',
    doc: 'Share of an installation’s remaining budget at GitHub that one pass of looking up may use',
    default: 25,
    min: 1,
    max: 100,
  }),
  secondLookMs: duration(
    'PADDOCK_SECOND_LOOK_MS',
    'How much later GitHub has to repeat an answer before a job fails or is demand again',
    60_000,
    DAY_MS,
  ),
  lookUpRetryMs: duration(
    'PADDOCK_LOOK_UP_RETRY_MS',
    'Wait before GitHub is asked again about a job for which it did not answer',
    300_000,
    DAY_MS,
  ),
  discoverRepositoryEveryMs: duration(
    'PADDOCK_DISCOVER_REPOSITORY_EVERY_MS',
    'Time between two looks at one active repository; one that rests is looked at after 72 times as long',
    300_000,
    DAY_MS,
  ),
  discoverRepositories: integer({
    env: 'PADDOCK_DISCOVER_REPOSITORIES',
    doc: 'Most active repositories that one pass looks at, and most of those that rest',
    default: 20,
    min: 1,
    max: 10_000,
  }),
  discoverBudgetPercent: integer({
    env: 'PADDOCK_DISCOVER_BUDGET_PERCENT',
    doc: 'Share of an installation’s remaining budget at GitHub that one pass may use',
    default: 2,
    min: 1,
    max: 100,
  }),
  discoverActiveMs: duration('PADDOCK_DISCOVER_ACTIVE_MS', 'How long after its last run or push a repository counts as active', DAY_MS),
  discoverListEveryMs: duration(
    'PADDOCK_DISCOVER_LIST_EVERY_MS',
    'How often an installation’s repositories are listed: a new one, or a push, is seen so late at most',
    3_600_000,
  ),
  installationsGoneAtMost: integer({
    env: 'PADDOCK_INSTALLATIONS_GONE_AT_MOST',
    doc: 'If more installations than that are missing from an App’s list, the list is not believed',
    default: 20,
    min: 0,
    max: 10_000,
  }),
};
