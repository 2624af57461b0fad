import { retiredUpTo, retireEvents, retireJobs } from '@paddock/db/deliveries/retire-rows';
import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';

export interface RetireRowsOptions {
  db: Kysely<Database>;
  keepEventsDays: number;
  keepJobsDays: number;
  /** Rows of one statement, each in its own transaction. */
  batch: number;
  /** Most statements of one pass, for events and for jobs. */
  maxBatches: number;
}

export interface RetiredRowsCounts {
  events: number;
  jobs: number;
  /** There may be more, and the next pass is due at once. */
  more: boolean;
}

/** Retires old events and ended jobs. */
export async function retireRows(
  { db, keepEventsDays, keepJobsDays, batch, maxBatches: most }: RetireRowsOptions,
  signal: AbortSignal,
): Promise<RetiredRowsCounts> {
  let afterId = await retiredUpTo(db);
  const removeEvents = async () => {
    const some = await retireEvents(db, { afterId, keepDays: keepEventsDays, batch });
    afterId = some.reachedId;
    return some;
  };
  const removeJobs = async () =>
    ofBatch(await retireJobs(db, { keepDays: keepJobsDays, batch }), batch);
  const events = await inBatches(removeEvents, signal, most);
  const jobs = await inBatches(removeJobs, signal, most);
  return { events: events.removed, jobs: jobs.removed, more: events.more || jobs.more };
}

/** What one statement removed, and whether it found no more. */
interface Removed {
  readonly removed: number;
  readonly isLast: boolean;
}

export const ofBatch = (removed: number, batch: number): Removed => ({
  removed,
  isLast: removed < batch,
});

/**
 * Removes rows in batches so small that no other statement waits for them. `more`: all `most`
 * batches were used.
 */
export async function inBatches(
  removeSome: () => Promise<Removed>,
  signal: AbortSignal,
  most = Infinity,
): Promise<{ readonly removed: number; readonly more: boolean }> {
  let removed = 0;
  for (let batches = 0; batches < most; batches++) {
    if (signal.aborted) return { removed, more: false };
    const some = await removeSome();
    removed += some.removed;
    if (some.isLast) return { removed, more: false };
  }
  return { removed, more: true };
}
