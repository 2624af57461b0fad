import { isBadData, isConflict, isUniqueViolation } from '@paddock/db/connection/errors';
import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';
import { type Claim, type EndedTask, endTasks, type Keep } from './end-tasks.ts';
import { enqueue } from './enqueue.ts';
import { requeueTasks } from './requeue-tasks.ts';
import type { Settlement } from './settlement.ts';

export interface Settling {
  readonly claim: Claim;
  readonly settlement: Settlement;
}

/** Repetitions after losing against a concurrent transaction; each one lets at least one of the two through. */
const TRIES = 10;

/**
 * Writes what became of tasks: those that ended in one statement, with their follow-ons in the same transaction, and each that goes back
 * in one of its own, since it may have to wait for an enqueuer. Answers the ids that were still ours.
 *
 * Throws what PostgreSQL says: bad data (class 22 or 23) is the fault of one of the given, anything else of none.
 */
export async function settle(db: Kysely<Database>, settlings: readonly Settling[], keep: Keep): Promise<Set<string>> {
  const settled = new Set<string>();
  const ended = settlings.flatMap(({ claim, settlement }) => (settlement.to === 'queued' ? [] : [{ claim, settlement }]));
  if (ended.length > 0) for (const id of await repeated(() => settleEnded(db, ended, keep))) settled.add(id);
  for (const { claim, settlement } of settlings) {
    if (settlement.to !== 'queued') continue;
    const { delayMs, giveBack, heldBy, failure } = settlement;
    const task = {
      ...claim,
      delayMs,
      giveBack,
      ...(heldBy === undefined ? {} : { heldBy }),
      ...(failure === undefined ? {} : { failure }),
    };
    for (const id of await repeated(() => requeueTasks(db, [task], keep.okMs))) settled.add(id);
  }
  return settled;
}

interface Ending {
  readonly claim: Claim;
  readonly settlement: Exclude<Settlement, { to: 'queued' }>;
}

async function settleEnded(db: Kysely<Database>, endings: readonly Ending[], keep: Keep): Promise<string[]> {
  const tasks = endings.map(toEndedTask);
  if (endings.every(({ settlement }) => settlement.to === 'failed' || settlement.followOn.length === 0)) return endTasks(db, tasks, keep);
  return db.transaction().execute(async (trx) => {
    const ids = await endTasks(trx, tasks, keep);
    const ours = new Set(ids);
    await enqueue(
      trx,
      endings.flatMap(({ claim, settlement }) => (settlement.to === 'ok' && ours.has(claim.id) ? settlement.followOn : [])),
    );
    return ids;
  });
}

function toEndedTask({ claim, settlement }: Ending): EndedTask {
  if (settlement.to === 'ok') return { ...claim, ...(settlement.output === undefined ? {} : { output: settlement.output }) };
  const { reason, last, message } = settlement;
  return { ...claim, failure: { reason, last, message } };
}

/** A deadlock, or a successor that was committed between our look and our write: both are gone when it is done again. */
export async function repeated<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries >= TRIES || !(isConflict(error) || isUniqueViolation(error))) throw error;
    }
  }
}

/** True if a settlement itself is at fault, so that repeating it is in vain. */
export const isRefused = (error: unknown): boolean => isBadData(error) && !isUniqueViolation(error);
