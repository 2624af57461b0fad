import { onlyRowOf } from '@paddock/db/rows';
import type { Database, Db } from '@paddock/db/schema/tables';
import { GOES_ON } from './sessions.ts';

const WATCHED = [
  'jobs',
  'workers',
  'demand_keys',
  'outages',
  'pools_documents',
  'switches',
  'tasks',
  'operations',
  'installations',
  'installation_events',
  'actions',
  'tokens',
] as const satisfies readonly (keyof Database)[];

export type Watched = (typeof WATCHED)[number];

/** How many rows of each table were ever written, and who may still be told of it. */
export interface Changes {
  readonly written: Readonly<Record<Watched, number>>;
  readonly tokens: readonly string[];
  readonly sessions: readonly string[];
}

/**
 * Reads how much has been written, from PostgreSQL's own counters: no table is read but those of
 * tokens and sessions, however many rows the others have. A session adds to the counters after its
 * transactions, at most once a second, and at the latest when it has been idle for 10 s.
 */
export const readChanges = (db: Db, asked: Pick<Changes, 'tokens' | 'sessions'>) =>
  onlyRowOf<Changes>(db)`
    select (
      select jsonb_object_agg(relname, pg_stat_get_tuples_inserted(oid) + pg_stat_get_tuples_updated(oid) + pg_stat_get_tuples_deleted(oid))
      from pg_class where relnamespace = current_schema()::regnamespace and relname = any(${WATCHED})
    ) as written, array(
      select name from tokens where name = any(${asked.tokens}) and revoked_at is null
    ) as tokens, array(
      select id from sessions where id = any(${asked.sessions}) and ${GOES_ON}
    ) as sessions`;
