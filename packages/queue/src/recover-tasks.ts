import type { Db } from '@paddock/db/schema/tables';
import { sql } from 'kysely';
import { isExpired, MOST_CRASHES, takeOverTasks, taskOf } from './claim-tasks.ts';
import { type Keep, requeueTasks, retryConflicts } from './write-settlements.ts';
import { identityOf, type TaskIdentity } from './executor-events.ts';

export interface RecoverOptions {
  /** The most tasks of one pass; the longest expired first. */
  readonly batch: number;
  readonly keep: Keep;
}

export interface Recovered {
  readonly found: number;
  /** Put back to queued, due now. */
  readonly requeued: number;
  /** Ended as failed: they crashed too often. */
  readonly ended: readonly TaskIdentity[];
  /** There may be more: the next pass is due at once. */
  readonly full: boolean;
}

/** Long enough to give a task back. */
const CLAIM = { holder: 'recover-tasks', claimMs: 15_000 };

/**
 * Frees tasks with an expired claim. Executors take over tasks of their kinds; this covers kinds
 * that no executor runs now. It takes tasks over as an executor does, and gives them back.
 */
export async function recoverTasks(db: Db, { batch, keep }: RecoverOptions): Promise<Recovered> {
  const expired = sql`
    select id, crashes >= ${MOST_CRASHES} as spent from tasks
    where status = 'running' and ${isExpired}
    order by locked_until limit ${batch} for update skip locked`;
  const found = await takeOverTasks(db, expired, { ...CLAIM, keepFailedMs: keep.failedMs });
  const held = found.filter(({ ended }) => !ended);
  const { holder } = CLAIM;
  const again = held.map(({ id, fence }) => ({ id, fence, holder, delayMs: 0 }));
  const requeued = await retryConflicts(() => requeueTasks(db, again, keep.okMs));
  return {
    found: found.length,
    requeued: requeued.length,
    ended: found.filter(({ ended }) => ended).map((row) => identityOf(taskOf(row, () => 0))),
    full: found.length === batch,
  };
}
