import { failureRules } from '@paddock/db/rules';
import { lookUpJobsTask } from '@paddock/domain/tasks/look-up-task';
import { DISCOVER_JOBS } from '@paddock/domain/tasks/sweep-names';
import type { NewTask } from '@paddock/queue/enqueue';
import { done } from '@paddock/queue/outcome';
import { sweepTask } from '../schedules/sweep-schedules.ts';
import type { Sweep, SweepContext } from '../sweep.ts';
import { discoverJobs } from './discover-jobs.ts';
import { lookUpJobs } from './look-up-jobs.ts';
import { resync } from './resync.ts';

const HOUR_MS = 3_600_000;

/** How long a repository stays active after its last run or push. */
const ACTIVE_MS = 24 * HOUR_MS;
/** After this many recoveries a stuck job is reported, and may fail if GitHub does not answer. */
export const RECOVERY_LIMIT = 3;
/** How long GitHub must not answer about a stuck job before the job fails. */
export const SILENCE_MS = 24 * HOUR_MS;
/** GitHub ends a queued job before this age. A younger one fails only by GitHub's answer. */
export const QUEUED_AT_MOST_MS = 48 * HOUR_MS;
/** Most jobs that one pass finds in doubt, and as many that it asks GitHub about. */
export const LOOK_UPS_OF_A_PASS = 250;
/** Most calls of GitHub that such a pass makes at once; GitHub allows 100. */
const ASKED_AT_ONCE = 8;
/**
 * Most resting repositories of an installation that are read in a minute, and as many active ones:
 * GitHub allows an installation 900 calls a minute, and a registration counts as five.
 */
export const READS_OF_A_MINUTE = 100;
/** Most that one pass reads, by the time to the next pass; at least 20. */
export const readsOfPass = (everySeconds: number): number =>
  Math.max(20, Math.ceil((READS_OF_A_MINUTE * everySeconds) / 60));
/** Most waiting jobs of a demand key to look up after a runner ended whose job is unknown. */
export const LOOK_UPS_PER_KEY = 10;

/**
 * If GitHub hides an object, our installations may be out of date: check them soon, but not in
 * every pass.
 */
const REPAIR_WAIT_MS = 600_000;
const repairIf = (isHidden: boolean): NewTask[] =>
  isHidden ? [{ ...sweepTask('check-apps'), dueInMs: REPAIR_WAIT_MS }] : [];

/** The sweeps that compare our jobs with GitHub's. */
export function jobSweeps({ db, github, config, events }: SweepContext) {
  return {
    'look-up-jobs': {
      slots: 1,
      pass: async (pass) => {
        const { full, ...counts } = await lookUpJobs(
          {
            db,
            github,
            events,
            doubts: {
              stuckAfterMs: config.stuckAfterMs,
              firstLookMs: config.heldLookUpFirstMs,
              longestLookMs: config.heldLookUpLongestMs,
              limit: RECOVERY_LIMIT,
              silenceMs: SILENCE_MS,
              queuedAtMostMs: QUEUED_AT_MOST_MS,
              perKey: LOOK_UPS_PER_KEY,
              batch: LOOK_UPS_OF_A_PASS,
            },
            batch: LOOK_UPS_OF_A_PASS,
            failureRules: failureRules(config),
            budgetPercent: config.lookUpBudgetPercent,
            secondLookMs: config.secondLookMs,
            longestLookMs: config.heldLookUpLongestMs,
            retryMs: config.lookUpRetryMs,
            atOnce: ASKED_AT_ONCE,
          },
          pass,
        );
        return done(counts, [...(full ? [lookUpJobsTask] : []), ...repairIf(counts.hidden > 0)]);
      },
    },
    [DISCOVER_JOBS]: {
      // One for its schedule, and three for what people ask for.
      slots: 4,
      pass: async (pass) => {
        const options = {
          db,
          github,
          events,
          appIds: github.appIds,
          most: readsOfPass(config.discoverJobsEverySeconds),
          budgetPercent: config.discoverBudgetPercent,
          turns: { everyMs: config.discoverRepositoryEveryMs, activeMs: ACTIVE_MS },
          listEveryMs: config.discoverListEveryMs,
          atOnce: ASKED_AT_ONCE,
        };
        if (pass.task.subject.id !== DISCOVER_JOBS) return resync(options, pass);
        const counts = await discoverJobs(options, pass);
        return done(counts, [
          ...(counts.inDoubt > 0 ? [lookUpJobsTask] : []),
          ...repairIf(counts.hidden > 0),
        ]);
      },
    },
  } satisfies Readonly<Record<string, Sweep>>;
}
