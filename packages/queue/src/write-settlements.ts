import { isBadData, isConflict, isUniqueViolation } from '@paddock/db/connection/errors';
import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';
import { type Claim, type EndedTask, endTasks, type Keep } from './end-tasks.ts';
import { enqueue } from './enqueue.ts';
import { requeueTasks } from './requeue-tasks.ts';
import type { Settlement } from './decide-settlement.ts';

export interface ClaimSettlement {
  readonly claim: Claim;
  readonly settlement: Settlement;
}

/**
 * How often a lost race is repeated. Each time at least one of the two transactions gets through.
 */
const TRIES = 10;

/**
 * Writes settlements. One statement ends tasks; their follow-ons are in the same transaction. Each
 * requeued task has its own statement: it may have to wait for an enqueuer. Returns the ids of the
 * tasks whose claim still held.
 *
 * Throws PostgreSQL's error. For bad data (class 22 or 23) one of the settlements is at fault.
 */
export async function writeSettlements(
  db: Kysely<Database>,
  settlements: readonly ClaimSettlement[],
  keep: Keep,
): Promise<Set<string>> {
  const ended = settlements.flatMap(({ claim, settlement }) =>
    settlement.to === 'queued' ? [] : [{ claim, settlement }],
  );
  const settled = new Set(await retryConflicts(() => settleEnded(db, ended, keep)));
  for (const { claim, settlement } of settlements) {
    if (settlement.to !== 'queued') continue;
    const task = { ...claim, ...settlement };
    for (const id of await retryConflicts(() => requeueTasks(db, [task], keep.okMs)))
      settled.add(id);
  }
  return settled;
}

async function settleEnded(
  db: Kysely<Database>,
  tasks: readonly EndedTask[],
  keep: Keep,
): Promise<string[]> {
  const followOn = tasks.flatMap(({ claim, settlement }) =>
    settlement.to === 'ok' ? settlement.followOn.map((next) => ({ of: claim.id, next })) : [],
  );
  if (followOn.length === 0) return endTasks(db, tasks, keep);
  return db.transaction().execute(async (trx) => {
    const ids = await endTasks(trx, tasks, keep);
    const ours = followOn.filter(({ of }) => ids.includes(of));
    await enqueue(
      trx,
      ours.map(({ next }) => next),
    );
    return ids;
  });
}

/**
 * Repeats work that lost a race: a deadlock, or a successor committed between its read and its
 * write.
 */
export async function retryConflicts<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries >= TRIES || !(isConflict(error) || isUniqueViolation(error))) throw error;
    }
  }
}

/** True if a settlement itself is at fault: repeating it cannot help. */
export const isRefused = (error: unknown): boolean => isBadData(error) && !isUniqueViolation(error);
