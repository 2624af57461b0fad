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

/**
 * Retires old events and ended jobs, in batches so small that no other statement waits for them.
 */
export async function retireRows(
  options: RetireRowsOptions,
  signal: AbortSignal,
): Promise<RetiredRowsCounts> {
  const events = await retireOldEvents(options, signal);
  const jobs = await retireOldJobs(options, signal);
  return { events: events.removed, jobs: jobs.removed, more: events.more || jobs.more };
}

interface Retired {
  readonly removed: number;
  /** All batches of the pass were used. */
  readonly more: boolean;
}

async function retireOldEvents(
  { db, keepEventsDays, batch, maxBatches }: RetireRowsOptions,
  signal: AbortSignal,
): Promise<Retired> {
  let removed = 0;
  let afterId = await retiredUpTo(db);
  for (let batches = 0; batches < maxBatches; batches++) {
    if (signal.aborted) return { removed, more: false };
    const some = await retireEvents(db, { afterId, keepDays: keepEventsDays, batch });
    removed += some.removed;
    afterId = some.reachedId;
    if (some.isLast) return { removed, more: false };
  }
  return { removed, more: true };
}

async function retireOldJobs(
  { db, keepJobsDays, batch, maxBatches }: RetireRowsOptions,
  signal: AbortSignal,
): Promise<Retired> {
  let removed = 0;
  for (let batches = 0; batches < maxBatches; batches++) {
    if (signal.aborted) return { removed, more: false };
    const some = await retireJobs(db, { keepDays: keepJobsDays, batch });
    removed += some;
    if (some < batch) return { removed, more: false };
  }
  return { removed, more: true };
}
