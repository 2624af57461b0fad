import type { Db } from '@paddock/db/schema/tables';
import { sql } from 'kysely';
import { APP_ID } from '../programs.ts';
import { deliveriesOf, ENTITY, jobsOf, POOL, workerOf } from './deliveries.ts';
import type { Load } from './load-thread.ts';

/**
 * Removes the rows that the services have written, so that every measurement begins with the same
 * tables, and adds the workers that will run the jobs.
 */
export async function makeRoom(db: Db, { firstJobId, count }: Load): Promise<void> {
  await sql`truncate jobs, installation_events, workers`.execute(db);
  await sql`
    insert into workers (pod_name, status, entity_id, entity_name, entity_type, app_id, installation_id, scope_repo_id, job_labels, k8s_pool,
      k8s_image, pools_version, namespace, pod_uid, running_at, runner_id)
    select ${workerOf('')} || n, 'running', ${ENTITY.id}, ${ENTITY.login}, ${ENTITY.type}, ${APP_ID}, 31, 0, ${JSON.stringify(POOL.labels)}, ${POOL.name},
      ${POOL.image}, 1, 'runners', n, now(), n
    from generate_series(${firstJobId}::bigint, ${firstJobId + jobsOf(count) - 1}::bigint) n`.execute(
    db,
  );
}

/**
 * How many rows are missing or wrong: each job must have one that has completed, and each delivery
 * one.
 */
export async function countMissing(db: Db, { count }: Load): Promise<number> {
  const { rows } = await sql<{ missing: number }>`
    select (greatest(0, ${jobsOf(count)} - (select count(*) from jobs where status = 'completed'))
      + greatest(0, ${deliveriesOf(count)} - (select count(*) from installation_events)))::integer as missing`.execute(
    db,
  );
  return rows[0]?.missing ?? Number.NaN;
}
