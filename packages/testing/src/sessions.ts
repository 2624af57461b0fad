import type { Db } from '@paddock/db/schema/tables';
import { sql } from 'kysely';
import { waitFor } from './wait-for.ts';
import type { ServiceName } from '@paddock/db/connection/schema-name';

/**
 * Resolves once `count` statements in this database wait for locks: of one application's sessions,
 * or for one transaction (`by`). Name the transaction if a statement has waited for another one
 * before: it seems to wait for that one for a moment after its end.
 */
export async function untilBlocked(
  db: Db,
  {
    count = 1,
    applicationName,
    by,
  }: {
    readonly count?: number;
    readonly applicationName?: string;
    readonly by?: Db;
  } = {},
): Promise<void> {
  const holder =
    by && (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(by)).rows[0]?.pid;
  await waitFor(`${count} statements that wait for locks`, async () => {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        and (${applicationName ?? null}::text is null or application_name = ${applicationName ?? null})
        and (${holder ?? null}::integer is null or ${holder ?? null} = any(pg_blocking_pids(pid)))`.execute(
      db,
    );
    return rows.length >= count;
  });
}

/**
 * Resolves once a service has no session in this database. A killed process may leave a transaction
 * that commits after its death.
 */
export const untilDisconnected = (db: Db, service: ServiceName) =>
  waitFor(`the end of the sessions of ${service}`, async () => {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and application_name like ${`paddock-${service}%`}`.execute(
      db,
    );
    return rows.length === 0;
  });
