import { countRetirableJobs, retiredUpTo, retireEvents, retireJobs } from '@paddock/db/deliveries/retire-rows';
import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';
import { actOrCount } from '../count-only.ts';

export interface RetireRowsOptions {
  db: Kysely<Database>;
  keepEventsDays: number;
  keepJobsDays: number;
  /** Rows of one statement, which is a transaction of its own. */
  batch: number;
  /** Statements of one pass. */
  maxBatches: number;
  dryRun: boolean;
}

export interface RetiredRowsCounts {
  events: number;
  jobs: number;
  /** The pass was cut short, and the next one is due at once. */
  more: boolean;
}

/** Removes old events and ended jobs (E7), in batches so small that nobody waits for them. */
export async function retireRows(options: RetireRowsOptions, signal: AbortSignal): Promise<RetiredRowsCounts> {
  const batches = { left: options.maxBatches, signal };
  const events = await retireOldEvents(options, batches);
  const jobs = options.dryRun ? await countRetirableJobs(options.db, options.keepJobsDays) : await retireOldJobs(options, batches);
  return { events, jobs, more: batches.left === 0 };
}

interface Batches {
  left: number;
  readonly signal: AbortSignal;
}

const takeBatch = (batches: Batches): boolean => !batches.signal.aborted && batches.left > 0 && batches.left-- > 0;

async function retireOldEvents({ db, keepEventsDays, batch, dryRun }: RetireRowsOptions, batches: Batches): Promise<number> {
  let events = 0;
  let afterId = await retiredUpTo(db);
  while (takeBatch(batches)) {
    const from = afterId;
    const { removed, reachedId, isLast } = await actOrCount(db, dryRun, (using) =>
      retireEvents(using, { afterId: from, keepDays: keepEventsDays, batch }),
    );
    events += removed;
    afterId = reachedId;
    if (isLast) break;
  }
  return events;
}

async function retireOldJobs({ db, keepJobsDays, batch }: RetireRowsOptions, batches: Batches): Promise<number> {
  let jobs = 0;
  while (takeBatch(batches)) {
    const some = await retireJobs(db, { keepDays: keepJobsDays, batch });
    jobs += some;
    if (some < batch) break;
  }
  return jobs;
}
