import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';

/** The tables that the page watches. */
const WATCHED = [
  'jobs',
  'workers',
  'demand_keys',
  'breakers',
  'pools_documents',
  'stopped_making',
  'paused_sweeps',
  'tasks',
  'operations',
  'installations',
  'installation_events',
  'actions',
  'tokens',
] as const satisfies readonly (keyof Database)[];

export type Watched = (typeof WATCHED)[number];

/** How many rows of each table were ever written, and which of the tokens may still be used. */
export interface Changes {
  readonly written: Readonly<Record<Watched, number>>;
  readonly tokens: readonly string[];
}

/**
 * Reads how much has been written, from PostgreSQL's own counters: no table is read but that of
 * tokens, however many rows the others have. A session adds to the counters after its
 * transactions, at most once a second, and at the latest when it has been idle for 10 s.
 */
export async function readChanges(
  db: Kysely<Database>,
  tokenNames: readonly string[],
): Promise<Changes> {
  const { rows } = await sql<Changes>`
    select (
      select jsonb_object_agg(relname, pg_stat_get_tuples_inserted(oid) + pg_stat_get_tuples_updated(oid) + pg_stat_get_tuples_deleted(oid))
      from pg_class where relnamespace = current_schema()::regnamespace and relname = any(${WATCHED})
    ) as written, array(
      select name from tokens where name = any(${tokenNames}) and revoked_at is null
    ) as tokens`.execute(db);
  const [changes] = rows;
  if (changes === undefined) throw new Error('a query without a table gave no row');
  return changes;
}
