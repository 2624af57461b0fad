import { retireWaitReasons } from '@paddock/db/deliveries/retire-rows';
import { findHoursToSum, retireUsage, sumUsage } from '@paddock/db/people/sum-usage';
import { done } from '@paddock/queue/outcome';
import { purgeOperations } from '@paddock/queue/purge-operations';
import { rollUpTaskCounts } from '@paddock/queue/task-counts';
import { checkApps } from './check-apps.ts';
import { inBatches, ofBatch, retireRows } from './retire-rows.ts';
import { counting, type Sweep } from '../sweep.ts';
import { sweepTask } from '../schedules/sweep-schedules.ts';
import type { SweepContext } from '../sweep-context.ts';

const ROWS_AT_ONCE = 1_000;
/** A pass with this many batches ends well within its task's time. */
const BATCHES_OF_ONE_PASS = 100;

/** A pass with as many busy hours ends well within its task's time. */
const HOURS_AT_ONCE = 200;

/** The sweeps that check the Apps, sum up what was used, and remove old rows. */
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
        const found = { keptDays: config.keepJobsDays, most: HOURS_AT_ONCE };
        const toSum = await findHoursToSum(db, found);
        let [hours, older] = [0, 0];
        // Each by one statement. After an outage the hours that were missed follow, newest first.
        for (const hour of toSum) {
          if (signal.aborted) break;
          const unended = await sumUsage(db, hour);
          hours += 1;
          // It is summed up again at each tick, so it asks for no further pass.
          if (unended === 0) older += 1;
        }
        const removed = await retireUsage(db);
        const isMore = toSum.length === HOURS_AT_ONCE && older > 0;
        return done({ hours, removed }, isMore ? [sweepTask('sum-usage')] : []);
      },
    },
  } satisfies Readonly<Record<string, Sweep>>;
}

/** Removes all that `remove` finds, in small batches. Returns how many. */
const removeAll = async (
  remove: (batch: number) => Promise<number>,
  signal: AbortSignal,
): Promise<number> =>
  (await inBatches(async () => ofBatch(await remove(ROWS_AT_ONCE), ROWS_AT_ONCE), signal)).removed;
