import { type Kysely, sql } from 'kysely';
import { prepared } from '../connection/prepared.ts';
import type { Database } from '../schema/tables.ts';
import { UNASSIGNED } from '../states/worker-states.ts';

/** The number of jobs to take of a key. */
export interface JobsOfKey {
  readonly demandKey: number;
  readonly count: number;
}

/**
 * `oldest`: for each key the given number of waiting jobs, the oldest without a worker in the
 * making.
 */
export const oldestUncovered = (keys: readonly JobsOfKey[]) => sql`
  wanted as (select * from jsonb_to_recordset(${JSON.stringify(keys)}::jsonb) as wanted("demandKey" bigint, count integer)),
  covered as (
    select made_for_job_id from workers
    where demand_key = any (array(select "demandKey" from wanted)) and made_for_job_id is not null
      and ${UNASSIGNED}
  ),
  oldest as (
    select j.* from wanted cross join lateral (
      select * from jobs
      where demand_key = "demandKey" and wants_worker and job_id not in (select made_for_job_id from covered)
      order by created_at, job_id limit wanted.count
    ) j
  )`;

/**
 * For each key the instants at which its oldest waiting jobs became known, in seconds since the
 * epoch.
 */
export async function findJobTimes(
  db: Kysely<Database>,
  keys: readonly JobsOfKey[],
): Promise<ReadonlyMap<number, number[]>> {
  if (keys.length === 0) return new Map();
  const { rows } = await sql<{ demandKey: number; times: number[] }>`${prepared}
    with ${oldestUncovered(keys)}
    select demand_key as "demandKey", json_agg(extract(epoch from created_at)::float8 order by created_at, job_id) as times
    from oldest group by demand_key`.execute(db);
  return new Map(rows.map(({ demandKey, times }) => [demandKey, times]));
}
