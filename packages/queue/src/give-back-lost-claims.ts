import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';
import { type HeldTasks, keyOf } from './held-tasks.ts';
import { requeueTasks } from './requeue-tasks.ts';
import { retryConflicts } from './write-settlements.ts';

/**
 * Gives back the tasks that carry this holder's name and that it does not hold: claims that were committed, and whose answer was lost with
 * the connection. They would wait for the whole claim otherwise. To be called between two claims only. Answers how many there were.
 */
export async function giveBackLostClaims(db: Kysely<Database>, holder: string, held: HeldTasks, keepOkMs: number): Promise<number> {
  const carried = await db
    .selectFrom('tasks')
    .select(['id', 'fence'])
    .where('status', '=', 'running')
    .where('locked_by', '=', holder)
    .execute();
  const known = new Set(held.all().map(({ claim }) => keyOf(claim)));
  const lost = carried.filter((claim) => !known.has(keyOf(claim)));
  for (const { id, fence } of lost)
    await retryConflicts(() => requeueTasks(db, [{ id, fence, holder, delayMs: 0, giveBack: true }], keepOkMs));
  return lost.length;
}
