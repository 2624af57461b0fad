import { retireWaitReasons } from '@paddock/db/matching/wait-reason-changes';
import { done } from '@paddock/queue/outcome';
import { countExpiredOperations, purgeOperations } from '@paddock/queue/purge-operations';
import { rollUpTaskCounts } from '@paddock/queue/task-counts';
import { actOrCount } from '../count-only.ts';
import { checkApps } from './check-apps.ts';
import { retireRows } from './retire-rows.ts';
import { sumUsageHours } from './sum-usage-hours.ts';
import { counting, type Sweep } from '../sweep.ts';
import { sweepTask } from '../schedules/sweep-schedules.ts';
import type { SweepContext } from '../sweep-context.ts';

const ROWS_AT_ONCE = 1_000;
/** A pass with this many batches ends well within its task's time. */
const BATCHES_OF_ONE_PASS = 100;

/** The sweeps that check the Apps and remove old rows. */
export function upkeepSweeps({ db, github, config, events }: SweepContext) {
  return {
    'check-apps': {
      slots: 1,
      pass: async (pass) => {
        const { installationsGoneAtMost: goneAtMost } = config;
        const { waitMs, ...counts } = await checkApps({ db, github, events, goneAtMost }, pass);
        return done(counts, waitMs > 0 ? [{ ...sweepTask('check-apps'), dueInMs: waitMs }] : []);
      },
    },
    'retire-rows': {
      slots: 1,
      pass: async ({ signal, dryRun }) => {
        const { keepEventsDays, keepJobsDays } = config;
        const bound = { batch: ROWS_AT_ONCE, maxBatches: BATCHES_OF_ONE_PASS };
        const { more, ...counts } = await retireRows(
          { db, keepEventsDays, keepJobsDays, ...bound, dryRun },
          signal,
        );
        const waitReasons = await actOrCount(db, dryRun, (using) =>
          removeAll(
            (batch) => retireWaitReasons(using, { keepHours: config.keepWaitReasonsHours, batch }),
            signal,
          ),
        );
        return done({ ...counts, waitReasons }, more ? [sweepTask('retire-rows')] : []);
      },
    },
    'purge-operations': counting(1, async ({ signal, dryRun }) => ({
      purged: await (dryRun
        ? countExpiredOperations(db)
        : removeAll((batch) => purgeOperations(db, batch), signal)),
    })),
    'roll-up-counts': counting(1, ({ dryRun }) =>
      actOrCount(db, dryRun, (using) => rollUpTaskCounts(using)),
    ),
    'sum-usage': {
      slots: 1,
      pass: async ({ signal, dryRun }) => {
        const { more, ...counts } = await sumUsageHours(
          { db, keepJobsDays: config.keepJobsDays, dryRun },
          signal,
        );
        return done(counts, more ? [sweepTask('sum-usage')] : []);
      },
    },
  } satisfies Readonly<Record<string, Sweep>>;
}

/** Removes all that `remove` finds, in small batches. Returns how many. */
async function removeAll(
  remove: (batch: number) => Promise<number>,
  signal: AbortSignal,
): Promise<number> {
  let removed = 0;
  while (!signal.aborted) {
    const some = await remove(ROWS_AT_ONCE);
    removed += some;
    if (some < ROWS_AT_ONCE) break;
  }
  return removed;
}
