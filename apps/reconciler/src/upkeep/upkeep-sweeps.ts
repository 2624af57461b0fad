import { retireWaitReasons } from '@paddock/db/matching/wait-reason-changes';
import { done } from '@paddock/queue/outcome';
import { purgeOperations } from '@paddock/queue/purge-operations';
import { rollUpTaskCounts } from '@paddock/queue/task-counts';
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
      pass: async ({ signal }) => {
        const { keepEventsDays, keepJobsDays } = config;
        const bound = { batch: ROWS_AT_ONCE, maxBatches: BATCHES_OF_ONE_PASS };
        const { more, ...counts } = await retireRows(
          { db, keepEventsDays, keepJobsDays, ...bound },
          signal,
        );
        const waitReasons = await removeAll(
          (batch) => retireWaitReasons(db, { keepHours: config.keepWaitReasonsHours, batch }),
          signal,
        );
        return done({ ...counts, waitReasons }, more ? [sweepTask('retire-rows')] : []);
      },
    },
    'purge-operations': counting(1, async ({ signal }) => ({
      purged: await removeAll((batch) => purgeOperations(db, batch), signal),
    })),
    'roll-up-counts': counting(1, () => rollUpTaskCounts(db)),
    'sum-usage': {
      slots: 1,
      pass: async ({ signal }) => {
        const { more, ...counts } = await sumUsageHours(
          { db, keepJobsDays: config.keepJobsDays },
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
