import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';

/** A failed delivery that GitHub is asked to repeat until it gets through. */
export interface Unresolved {
  readonly appId: number;
  /** The newest attempt that we know of. A whole number as text. */
  readonly deliveryId: string;
  /** How often we have asked. */
  readonly requests: number;
}

/** The unresolved delivery of this GUID; undefined: it got through, was given up, or is unknown. */
export async function findUnresolved(
  db: Kysely<Database>,
  guid: string,
  appIds: readonly number[],
): Promise<Unresolved | undefined> {
  const { rows } = await sql<Unresolved>`
    select app_id as "appId", delivery_id::text as "deliveryId", requests from unresolved_deliveries
    where app_id = any(${appIds}::bigint[]) and guid = ${guid} limit 1`.execute(db);
  return rows[0];
}
