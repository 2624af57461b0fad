import { DAY_MS, duration, integer, tuning } from '@paddock/runtime/settings';
import { cadence } from '../schedules/cadence.ts';

/** How often to compare our rows with GitHub. */
export const jobCadences = tuning({
  lookUpJobsEverySeconds: cadence(
    'PADDOCK_LOOK_UP_JOBS_EVERY_SECONDS',
    60,
    'How often to look for jobs in doubt, and to ask GitHub about them',
  ),
  discoverJobsEverySeconds: cadence(
    'PADDOCK_DISCOVER_JOBS_EVERY_SECONDS',
    60,
    'How often to pick repositories and look for jobs in them',
  ),
});

/** When a job is in doubt, and how to look it up. */
export const jobSettings = {
  lookUpBudgetPercent: integer({
    env: 'PADDOCK_LOOK_UP_BUDGET_PERCENT',
    default: 25,
    min: 1,
    max: 100,
    doc: 'Share of an installation’s remaining calls that one pass may use to ask GitHub about jobs in doubt',
  }),
  discoverBudgetPercent: integer({
    env: 'PADDOCK_DISCOVER_BUDGET_PERCENT',
    default: 2,
    min: 1,
    max: 100,
    doc: 'Share of an installation’s remaining calls that one pass may use to look for jobs in repositories',
  }),
  ...tuning({
    stuckAfterMs: duration({
      env: 'PADDOCK_STUCK_JOB_AFTER_MS',
      default: 600_000,
      doc: 'How long a job may wait without a reason, or run after its worker ended, before it is stuck. Also the time between two recoveries',
    }),
    heldLookUpFirstMs: duration({
      env: 'PADDOCK_HELD_LOOK_UP_FIRST_MS',
      default: 3_600_000,
      max: 90 * DAY_MS,
      doc: 'Age of a job that is held back at its first look-up',
    }),
    heldLookUpLongestMs: duration({
      env: 'PADDOCK_HELD_LOOK_UP_LONGEST_MS',
      default: 21_600_000,
      doc: 'Longest time between two such look-ups; until then it doubles',
    }),
    secondLookMs: duration({
      env: 'PADDOCK_SECOND_LOOK_MS',
      default: 60_000,
      doc: 'GitHub must repeat an answer after this time before a job fails or waits again',
    }),
    lookUpRetryMs: duration({
      env: 'PADDOCK_LOOK_UP_RETRY_MS',
      default: 60_000,
      doc: 'Wait before the next look-up of a job for which GitHub did not answer, the first time. Each further wait is twice as long, up to an hour',
    }),
    discoverRepositoryEveryMs: duration({
      env: 'PADDOCK_DISCOVER_REPOSITORY_EVERY_MS',
      default: 300_000,
      max: DAY_MS,
      doc: 'Shortest time between two passes over a repository',
    }),
    discoverListEveryMs: duration({
      env: 'PADDOCK_DISCOVER_LIST_EVERY_MS',
      default: 3_600_000,
      max: 90 * DAY_MS,
      doc: 'How often to list an installation’s repositories. A new one, or a push, is seen at most that late',
    }),
  }),
};
