import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';
import { CRASH_MESSAGE } from './claim-tasks.ts';
import { type EndedTask, endTasks, type Keep } from './end-tasks.ts';
import type { TaskIdentity } from './executor-events.ts';
import { isExpired, claimMsOfRow } from './claim-expiry.ts';
import { type RequeuedTask, requeueTasks } from './requeue-tasks.ts';
import { retryConflicts } from './write-settlements.ts';

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

interface ExpiredTask {
  id: string;
  kind: string;
  subject_type: string;
  subject_id: string;
  delivery_guid: string | null;
  attempt: number;
  crashes: number;
  fence: number;
  holder: string;
  spent: boolean;
  /** How long its claim lasts, in milliseconds. */
  staleMs: number;
}

/**
 * Frees tasks with an expired claim. Executors take over tasks of their kinds; this covers kinds
 * that no executor runs now. One SELECT and at most two writes, each guarded by what the SELECT
 * read. Ignores sessions: for a kind without executors the faster rule gains nothing.
 */
export async function recoverTasks(
  db: Kysely<Database>,
  { batch, keep }: RecoverOptions,
): Promise<Recovered> {
  const expired = await findExpiredTasks(db, batch);
  const again = expired.filter(({ spent }) => !spent).map(toRequeued);
  const over = expired.filter(({ spent }) => spent).map(toEnded);
  const requeued = await retryConflicts(() => requeueTasks(db, again, keep.okMs));
  const ended = new Set(await retryConflicts(() => endTasks(db, over, keep)));
  return {
    found: expired.length,
    requeued: requeued.length,
    ended: expired.filter(({ id }) => ended.has(id)).map(toIdentity),
    full: expired.length === batch,
  };
}

async function findExpiredTasks(db: Kysely<Database>, batch: number): Promise<ExpiredTask[]> {
  const { rows } = await sql<ExpiredTask>`
    select id, kind, subject_type, subject_id, delivery_guid, attempt, crashes, fence, locked_by as holder, crashes >= max_crashes as spent,
      ${claimMsOfRow} as "staleMs"
    from tasks
    where status = 'running' and ${isExpired}
    order by locked_at limit ${batch}`.execute(db);
  return rows;
}

/** The crashed run is no attempt: no run counts twice. */
const toRequeued = ({ id, fence, holder, staleMs }: ExpiredTask): RequeuedTask => ({
  id,
  fence,
  holder,
  staleMs,
  delayMs: 0,
  giveBack: true,
  failure: { reason: 'crash', message: CRASH_MESSAGE },
});

const toEnded = ({ id, fence, holder, staleMs }: ExpiredTask): EndedTask => ({
  id,
  fence,
  holder,
  staleMs,
  failure: { reason: 'crashes', last: 'crash', message: CRASH_MESSAGE, crashed: true },
});

const toIdentity = (task: ExpiredTask): TaskIdentity => ({
  id: task.id,
  kind: task.kind,
  subject: { type: task.subject_type, id: task.subject_id },
  attempt: task.attempt,
  crashes: task.crashes,
  deliveryGuid: task.delivery_guid,
});
