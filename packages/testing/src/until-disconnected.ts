import type { Db } from '@paddock/db/schema/tables';
import type { ServiceName } from '@paddock/db/connection/schema-name';
import { sql } from 'kysely';
import { waitFor } from './wait-for.ts';

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
