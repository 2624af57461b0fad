import {
  retiredUpTo,
  retireEvents,
  retireJobs,
  retireWaitReasons,
} from '@paddock/db/deliveries/retire-rows';
import { findHoursToSum, retireUsage, sumUsage } from '@paddock/db/sum-usage';
import type { Database } from '@paddock/db/schema/tables';
import { messageOf } from '@paddock/queue/mask-secrets';
import { purgeOperations, rollUpTaskCounts } from '@paddock/queue/operations';
import type { Kysely } from 'kysely';
import type { ReconcilerConfig } from '../config.ts';

export interface UpkeepOptions {
  readonly db: Kysely<Database>;
  readonly config: Pick<ReconcilerConfig, 'keepDays' | 'keepWaitReasonsHours'>;
  /** Rows of one statement, each in its own transaction. */
  readonly batch: number;
  /** Most statements of a pass for each part. */
  readonly maxBatches: number;
  /** Most hours of usage that a pass sums up. */
  readonly maxHours: number;
  readonly signal: AbortSignal;
}

/** What one part did. */
interface Part {
  readonly counts: Readonly<Record<string, number>>;
  /** There may be more to do. */
  readonly isMore: boolean;
}

export interface UpkeepResult {
  /** Of each part that did not fail. */
  readonly counts: Readonly<Record<string, Part['counts']>>;
  /** Of each part that failed, its name and why. */
  readonly failed: readonly string[];
  readonly isMore: boolean;
}

/**
 * Sums up the counts of tasks and what was used, and removes old rows: each part in turn. A part
 * that fails stops no other.
 */
export async function upkeep(options: UpkeepOptions): Promise<UpkeepResult> {
  const counts: Record<string, Part['counts']> = {};
  const failed: string[] = [];
  let isMore = false;
  for (const [name, part] of Object.entries(PARTS)) {
    if (options.signal.aborted) break;
    try {
      const done = await part(options);
      counts[name] = done.counts;
      isMore ||= done.isMore;
    } catch (error) {
      failed.push(`${name}: ${messageOf(error)}`);
    }
  }
  return { counts, failed, isMore };
}

const PARTS: Readonly<Record<string, (options: UpkeepOptions) => Promise<Part>>> = {
  taskCounts: async ({ db }) => ({ counts: { ...(await rollUpTaskCounts(db)) }, isMore: false }),

  operations: (options) => removeAll(options, ({ db, batch }) => purgeOperations(db, batch)),

  async usage({ db, config, maxHours: most, signal }) {
    const { hours, isMore } = await findHoursToSum(db, { keptDays: config.keepDays, most });
    let summed = 0;
    for (const hour of hours) {
      if (signal.aborted) break;
      await sumUsage(db, hour);
      summed += 1;
    }
    return { counts: { hours: summed, removed: await retireUsage(db) }, isMore };
  },

  waitReasons: (options) =>
    removeAll(options, ({ db, config, batch }) =>
      retireWaitReasons(db, { keepHours: config.keepWaitReasonsHours, batch }),
    ),

  async events(options) {
    const { keepDays } = options.config;
    let afterId = await retiredUpTo(options.db);
    return inBatches(options, async ({ db, batch }) => {
      const some = await retireEvents(db, { afterId, keepDays, batch });
      afterId = some.reachedId;
      return some;
    });
  },

  jobs: (options) =>
    removeAll(options, ({ db, config, batch }) =>
      retireJobs(db, { keepDays: config.keepDays, batch }),
    ),
};

/** Removes what `remove` finds; fewer than a batch are the last ones. */
const removeAll = (
  options: UpkeepOptions,
  remove: (options: UpkeepOptions) => Promise<number>,
): Promise<Part> =>
  inBatches(options, async () => {
    const removed = await remove(options);
    return { removed, isLast: removed < options.batch };
  });

/** Removes rows in batches so small that no other statement waits for them. */
async function inBatches(
  options: UpkeepOptions,
  removeSome: (
    options: UpkeepOptions,
  ) => Promise<{ readonly removed: number; readonly isLast: boolean }>,
): Promise<Part> {
  let removed = 0;
  for (let batches = 0; batches < options.maxBatches; batches++) {
    if (options.signal.aborted) return { counts: { removed }, isMore: false };
    const some = await removeSome(options);
    removed += some.removed;
    if (some.isLast) return { counts: { removed }, isMore: false };
  }
  return { counts: { removed }, isMore: true };
}
