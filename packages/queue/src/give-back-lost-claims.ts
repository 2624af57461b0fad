import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';
import { type HeldTasks, keyOf } from './held-tasks.ts';
import { requeueTasks } from './requeue-tasks.ts';
import { retryConflicts } from './write-settlements.ts';

/**
 * Gives back claims that committed and whose answer was lost with the connection: they have this
 * holder's name, and it does not know them. Otherwise they would block their tasks until they
 * expire. Call it between two claims only. Returns how many there were.
 */
export async function giveBackLostClaims(
  db: Kysely<Database>,
  holder: string,
  held: HeldTasks,
  keepOkMs: number,
): Promise<number> {
  const carried = await db
    .selectFrom('tasks')
    .select(['id', 'fence'])
    .where('status', '=', 'running')
    .where('locked_by', '=', holder)
    .execute();
  const known = new Set(held.all().map(({ claim }) => keyOf(claim)));
  const lost = carried.filter((claim) => !known.has(keyOf(claim)));
  for (const { id, fence } of lost)
    await retryConflicts(() =>
      requeueTasks(db, [{ id, fence, holder, delayMs: 0, giveBack: true }], keepOkMs),
    );
  return lost.length;
}
