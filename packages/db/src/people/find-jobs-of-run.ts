import { type Kysely, sql } from 'kysely';
import { isUnended } from '../states/job-states.ts';
import type { Database } from '../schema/tables.ts';

/**
 * The ids of a run's jobs that wait or run, rising, from the first one after `after`. The run is of
 * an entity with this login: its jobs are found by the entity, as runs have no index.
 */
export async function findJobsOfRun(
  db: Kysely<Database>,
  run: { run: number; owner: string; limit: number; after?: readonly [number] | undefined },
): Promise<number[]> {
  const { rows } = await sql<{ jobId: number }>`
    with of_run as materialized (
      -- All of them before any order: in the order of ids the planner would walk through every job.
      select job_id from jobs j
      where ${isUnended('j')} and run_id = ${run.run}
        and entity_id = any (array(select entity_id from installations where lower(login) = lower(${run.owner})))
    )
    select job_id as "jobId" from of_run where job_id > ${run.after?.[0] ?? 0} order by job_id limit ${run.limit}`.execute(
    db,
  );
  return rows.map(({ jobId }) => jobId);
}
