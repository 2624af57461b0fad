import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';

/** Rows to pass to the statements, found as their callers would have found them. */
export interface Given {
  readonly demandKeys: readonly number[];
  readonly jobIds: readonly number[];
  readonly podNames: readonly string[];
  readonly endedNames: readonly string[];
  /** Reservations whose registration has not begun. */
  readonly reservedNames: readonly string[];
}

/** The number of each kind. */
const MOST = 100;

export async function findGiven(db: Kysely<Database>): Promise<Given> {
  const { rows } = await sql<Given>`
    select array(select demand_key from jobs where wants_worker group by demand_key order by count(*) desc, 1 limit ${MOST}) as "demandKeys",
      array(select job_id from jobs where wants_worker order by job_id limit ${MOST}) as "jobIds",
      array(select pod_name from workers where status = 'running' order by pod_name limit ${MOST}) as "podNames",
      array(select pod_name from workers where completed_at > now() - interval '1 day' order by completed_at limit ${MOST}) as "endedNames",
      array(select pod_name from workers where status = 'pending' and registration_started_at is null and pod_uid is null limit ${MOST}) as "reservedNames"`.execute(
    db,
  );
  const [given] = rows;
  if (given === undefined) throw new Error('PostgreSQL answered a select of one row with none.');
  return { ...given, demandKeys: given.demandKeys.map(Number), jobIds: given.jobIds.map(Number) };
}
