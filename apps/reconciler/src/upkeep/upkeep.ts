import { retireWaitReasons } from '@paddock/db/deliveries/retire-rows';
import { findHoursToSum, retireUsage, sumUsage } from '@paddock/db/people/sum-usage';
import { messageOf } from '@paddock/queue/mask-secrets';
import { purgeOperations } from '@paddock/queue/purge-operations';
import { rollUpTaskCounts } from '@paddock/queue/task-counts';
import type { SweepContext } from '../sweep-context.ts';
import { inBatches, ofBatch, retireRows } from './retire-rows.ts';

/** A pass with as many batches of each part ends well within its task's time. */
const BATCHES = { batch: 1_000, maxBatches: 100 };
/** The same of busy hours. */
const HOURS_OF_A_PASS = 200;

type Counts = Readonly<Record<string, number>>;

interface Part {
  readonly counts: Counts;
  /** There may be more to do. */
  readonly isMore: boolean;
}

export interface UpkeepResult {
  /** Of each part that did not fail. */
  readonly counts: Readonly<Record<string, Counts>>;
  /** Of each part that failed, its name and why. */
  readonly failed: readonly string[];
  readonly isMore: boolean;
}

/**
 * Sums up the counts of tasks and what was used, and removes old rows: each part in turn. A part
 * that fails stops no other.
 */
export async function upkeep(
  context: Pick<SweepContext, 'db' | 'config'>,
  signal: AbortSignal,
): Promise<UpkeepResult> {
  const counts: Record<string, Counts> = {};
  const failed: string[] = [];
  let isMore = false;
  for (const [name, part] of Object.entries(PARTS)) {
    if (signal.aborted) break;
    try {
      const done = await part(context, signal);
      counts[name] = done.counts;
      isMore ||= done.isMore;
    } catch (error) {
      failed.push(`${name}: ${messageOf(error)}`);
    }
  }
  return { counts, failed, isMore };
}

const PARTS: Readonly<
  Record<
    string,
    (context: Pick<SweepContext, 'db' | 'config'>, signal: AbortSignal) => Promise<Part>
  >
> = {
  taskCounts: async ({ db }) => ({ counts: { ...(await rollUpTaskCounts(db)) }, isMore: false }),

  operations: ({ db }, signal) => removeAll((batch) => purgeOperations(db, batch), signal),

  async usage({ db, config }, signal) {
    const { hours, isMore } = await findHoursToSum(db, {
      keptDays: config.keepJobsDays,
      most: HOURS_OF_A_PASS,
    });
    let summed = 0;
    for (const hour of hours) {
      if (signal.aborted) break;
      await sumUsage(db, hour);
      summed += 1;
    }
    return { counts: { hours: summed, removed: await retireUsage(db) }, isMore };
  },

  waitReasons: ({ db, config }, signal) =>
    removeAll(
      (batch) => retireWaitReasons(db, { keepHours: config.keepWaitReasonsHours, batch }),
      signal,
    ),

  async rows({ db, config }, signal) {
    const { keepEventsDays, keepJobsDays } = config;
    const { more, ...counts } = await retireRows(
      { db, keepEventsDays, keepJobsDays, ...BATCHES },
      signal,
    );
    return { counts, isMore: more };
  },
};

/** Removes what `remove` finds, in small batches. */
async function removeAll(
  remove: (batch: number) => Promise<number>,
  signal: AbortSignal,
): Promise<Part> {
  const { batch, maxBatches } = BATCHES;
  const { removed, more } = await inBatches(
    async () => ofBatch(await remove(batch), batch),
    signal,
    maxBatches,
  );
  return { counts: { removed }, isMore: more };
}
