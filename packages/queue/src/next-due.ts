import { prepared } from '@paddock/db/connection/prepared';
import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';

/**
 * In how many milliseconds, by PostgreSQL's clock, the next queued task of these kinds is due, or
 * undefined if none waits. Ignores due tasks: their twin runs, or another transaction locks them.
 */
export async function nextDueInMs(
  db: Kysely<Database>,
  kinds: readonly string[],
): Promise<number | undefined> {
  const { rows } = await sql<{ ms: number | null }>`${prepared}
    select ceil(extract(epoch from min(next.due_at) - now()) * 1000)::double precision as ms
    from unnest(${kinds}::text[]) as wanted(kind) cross join lateral (
      select due_at from tasks where status = 'queued' and kind = wanted.kind and due_at > now() order by due_at limit 1
    ) next`.execute(db);
  return rows[0]?.ms ?? undefined;
}
