import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';
import { CRASH_MESSAGE } from './claim.ts';
import { type EndedTask, endTasks, type Keep } from './end-tasks.ts';
import type { TaskIdentity } from './executor-events.ts';
import { type RequeuedTask, requeueTasks } from './requeue-tasks.ts';
import { repeated } from './settle.ts';

export interface RecoverOptions {
  readonly leaseMs: number;
  /** At most so many tasks in one pass, those stuck longest first. */
  readonly batch: number;
  readonly keep: Keep;
}

export interface Recovered {
  readonly found: number;
  /** Put back to queued, due now. */
  readonly requeued: number;
  /** Ended as failed: they had crashed as often as they may. */
  readonly ended: readonly TaskIdentity[];
  /** There may be more: the next pass is due at once. */
  readonly full: boolean;
}

interface StuckTask {
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
}

/**
 * Frees tasks whose executor went away and whose kind nobody runs now; where somebody does, his next claim does the same. One SELECT and
 * at most two writes, each guarded by what the SELECT read (E8). What waits for its back-off has no lease and is not seen here.
 */
export async function recoverTasks(db: Kysely<Database>, { leaseMs, batch, keep }: RecoverOptions): Promise<Recovered> {
  const stuck = await findStuckTasks(db, leaseMs, batch);
  const again = stuck.filter(({ spent }) => !spent).map((task) => toRequeued(task, leaseMs));
  const over = stuck.filter(({ spent }) => spent).map((task) => toEnded(task, leaseMs));
  const requeued = await repeated(() => requeueTasks(db, again, keep.okMs));
  const ended = new Set(await repeated(() => endTasks(db, over, keep)));
  return {
    found: stuck.length,
    requeued: requeued.length,
    ended: stuck.filter(({ id }) => ended.has(id)).map(toIdentity),
    full: stuck.length === batch,
  };
}

async function findStuckTasks(db: Kysely<Database>, leaseMs: number, batch: number): Promise<StuckTask[]> {
  const { rows } = await sql<StuckTask>`
    select id, kind, subject_type, subject_id, delivery_guid, attempt, crashes, fence, locked_by as holder, crashes >= max_crashes as spent from tasks
    where status = 'running' and locked_at < now() - ${leaseMs} * interval '1 millisecond'
    order by locked_at limit ${batch}`.execute(db);
  return rows;
}

/** The crashed run is no attempt: no run is counted twice. */
const toRequeued = ({ id, fence, holder }: StuckTask, staleMs: number): RequeuedTask => ({
  id,
  fence,
  holder,
  staleMs,
  delayMs: 0,
  giveBack: true,
  failure: { reason: 'crash', message: CRASH_MESSAGE },
});

const toEnded = ({ id, fence, holder }: StuckTask, staleMs: number): EndedTask => ({
  id,
  fence,
  holder,
  staleMs,
  failure: { reason: 'crashes', last: 'crash', message: CRASH_MESSAGE, crashed: true },
});

const toIdentity = (task: StuckTask): TaskIdentity => ({
  id: task.id,
  kind: task.kind,
  subject: { type: task.subject_type, id: task.subject_id },
  attempt: task.attempt,
  crashes: task.crashes,
  deliveryGuid: task.delivery_guid,
});
