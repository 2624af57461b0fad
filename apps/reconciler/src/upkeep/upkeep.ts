import { retiredUpTo, retireEvents, retireJobs, retireWaitReasons } from '@paddock/db/retire-rows';
import { findHoursToSum, retireUsage, sumUsage } from '@paddock/db/sum-usage';
import { messageOf } from '@paddock/queue/mask-secrets';
import { purgeOperations, rollUpTaskCounts } from '@paddock/queue/operations';
import { done, type Outcome } from '@paddock/queue/kind';
import type { Pass } from '../passes/pass.ts';
import { sweepTask } from '@paddock/queue/sweep-schedules';
import type { SweepContext } from '../sweep.ts';

/** What one part did, and whether there may be more to do. */
interface Part {
  readonly counts: object;
  readonly isMore: boolean;
}

type PartOf = (context: SweepContext, signal: AbortSignal) => Promise<Part>;

/**
 * Sums up the counts of tasks and what was used, and removes old rows: each part in turn. A part
 * that fails stops no other.
 */
export async function upkeep(context: SweepContext, { signal }: Pass): Promise<Outcome> {
  const counts: Record<string, object> = {};
  const failed: string[] = [];
  let isMore = false;
  for (const [name, part] of Object.entries(PARTS)) {
    if (signal.aborted) break;
    try {
      const some = await part(context, signal);
      counts[name] = some.counts;
      isMore ||= some.isMore;
    } catch (error) {
      failed.push(`${name}: ${messageOf(error)}`);
    }
  }
  if (failed.length > 0) throw new Error(failed.join('; '));
  return done(counts, isMore ? [sweepTask('upkeep')] : []);
}

/** Most hours of usage that a pass sums up: it ends well within its task's time. */
const MOST_HOURS = 200;

/**
 * How long rows stay: events and jobs for `keepDays`, operations as their executors say, what jobs
 * waited for a day, sums of usage and of tasks for 13 months. Rows of workers stay for ever.
 */
const PARTS: Readonly<Record<string, PartOf>> = {
  taskCounts: async ({ db }) => ({ counts: await rollUpTaskCounts(db), isMore: false }),

  operations: inBatches(({ db, config }) => purgeOperations(db, config.rowsOfBatch)),

  async usage({ db, config }, signal) {
    const { keepDays: keptDays } = config;
    const { hours, isMore } = await findHoursToSum(db, { keptDays, most: MOST_HOURS });
    let summed = 0;
    for (const hour of hours) {
      if (signal.aborted) break;
      await db.transaction().execute((trx) => sumUsage(trx, hour));
      summed += 1;
    }
    return { counts: { hours: summed, removed: await retireUsage(db) }, isMore };
  },

  waitReasons: inBatches(
    ({ db, config: { keepWaitReasonsHours: keepHours, rowsOfBatch: batch } }) =>
      retireWaitReasons(db, { keepHours, batch }),
  ),

  async events(context, signal) {
    let afterId = await retiredUpTo(context.db);
    const retire = inBatches(async ({ db, config: { keepDays, rowsOfBatch: batch } }) => {
      const some = await retireEvents(db, { afterId, keepDays, batch });
      afterId = some.reachedId;
      return some;
    });
    return retire(context, signal);
  },

  jobs: inBatches(({ db, config: { keepDays, rowsOfBatch: batch } }) =>
    retireJobs(db, { keepDays, batch }),
  ),
};

/**
 * Removes rows in batches so small that no other statement waits for them, until `removeSome` says
 * that this was the last one, or removes fewer than a batch.
 */
function inBatches(
  removeSome: (
    context: SweepContext,
  ) => Promise<number | { readonly removed: number; readonly isLast: boolean }>,
): PartOf {
  return async (context, signal) => {
    const { rowsOfBatch, batchesOfPass } = context.config;
    let removed = 0;
    for (let batches = 0; batches < batchesOfPass && !signal.aborted; batches++) {
      const some = await removeSome(context);
      const { removed: count, isLast } =
        typeof some === 'number' ? { removed: some, isLast: some < rowsOfBatch } : some;
      removed += count;
      if (isLast) return { counts: { removed }, isMore: false };
    }
    return { counts: { removed }, isMore: !signal.aborted };
  };
}
