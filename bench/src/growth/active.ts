import { onlyRowOf } from '@paddock/db/rows';
import type { Db } from '@paddock/db/schema/tables';
import { sql } from 'kysely';
import { entity, ENTITY_COLUMNS, NAMESPACE, numbers, podName, type Sizes } from './year.ts';

/** Active rows are numbered from here, beyond any history. */
const FIRST = 1_000_000_000;

/**
 * Adds waiting jobs and live workers to the active rows. Of twenty workers, two are reserved (one
 * has not begun), one waits for a node, one for an image, three are idle (one for long), one is
 * being stopped, and the others run jobs.
 */
export async function putActive(
  db: Db,
  { entities, waiting, living }: Sizes<'entities' | 'waiting' | 'living'>,
): Promise<void> {
  const { last } = await db
    .selectFrom('jobs')
    .select(({ fn }) => fn.max('job_id').as('last'))
    .executeTakeFirstOrThrow();
  const first = Math.max(FIRST, Math.floor(last / 2) + 1);
  await sql`
    insert into jobs (job_id, run_id, run_attempt, job_name, repo_id, repo_full_name, ${ENTITY_COLUMNS}, status, wants_worker, lookup_due_at, created_at)
    select 2 * n, n / 4, 1, 'build', n % 5000 + 1, 'entity/repository-' || n % 5000, ${entity(entities)}, 'pending', true,
      case when n % 10 = 0 then now() - n % 100 * interval '1 second' end, now() - n % 7200 * interval '1 second'
    from ${numbers(first, waiting)}`.execute(db);
  await sql`
    insert into jobs (job_id, run_id, run_attempt, job_name, repo_id, repo_full_name, ${ENTITY_COLUMNS}, status, wants_worker, k8s_pod, started_at, created_at)
    select 2 * n + 1, n / 4, 1, 'build', n % 5000 + 1, 'entity/repository-' || n % 5000, ${entity(entities)}, 'running', false,
      case when n % 20 = 19 then null else ${podName('living')} end, now(), now() - n % 7200 * interval '1 second'
    from ${numbers(first, living)} where n % 20 >= 8`.execute(db);
  await sql`
    insert into workers (pod_name, namespace, made_for_job_id, ${ENTITY_COLUMNS}, status, registration_started_at, registered_at, runner_id, pod_uid,
      pod_created_at, unschedulable_at, stuck_reason, running_at, assigned_at, assigned_job_id, stopping_at, stop_reason, created_at)
    select ${podName('living')}, ${NAMESPACE}, 2 * n + 1, ${entity(entities)}, case when n % 20 < 4 then 'pending' else 'running' end::status_enum,
      case when n % 20 >= 1 then t end, case when n % 20 >= 1 then t end, case when n % 20 >= 1 then n end,
      case when n % 20 >= 2 then 'uid-' || n end, case when n % 20 >= 2 then t end, case when n % 20 = 2 then t end,
      case when n % 20 = 3 and n % 40 = 3 then 'image_pull' end, case when n % 20 >= 4 then t end, case when n % 20 >= 8 then t end,
      case when n % 20 >= 8 then 2 * n + 1 end, case when n % 20 = 7 then now() - interval '5 minutes' end,
      case when n % 20 = 7 then (array['surplus', 'idle', 'not_assigned'])[n / 20 % 3 + 1] end, t
    from (select n, now() - case when n % 20 = 4 then interval '30 minutes' else n % 300 * interval '1 second' end as t
      from ${numbers(first, living)}) alive`.execute(db);
  await sql`
    insert into tasks (kind, subject_type, subject_id, max_attempts)
    select case status when 'pending' then 'provision-worker' else 'stop-worker' end, 'worker', pod_name, 5 from workers
    where status in ('pending', 'running') and (pod_uid is null or stopping_at is not null) on conflict do nothing`.execute(
    db,
  );
  await sql`
    insert into demand_keys (demand_key, entity_id, entity_name, scope_repo_id, k8s_pool, waiting, unassigned, wait_reason, wait_since)
    select demand_key, entity_id, entity_name, scope_repo_id, k8s_pool, count(*), 0, case when entity_id % 2 = 0 then 'at_pool_cap' end, now()
    from jobs where wants_worker group by demand_key, entity_id, entity_name, scope_repo_id, k8s_pool on conflict do nothing`.execute(
    db,
  );
}

/** Rows to pass to the statements, found as their callers would have found them. */
export interface Given {
  readonly demandKeys: readonly number[];
  readonly jobIds: readonly number[];
  readonly podNames: readonly string[];
  readonly endedNames: readonly string[];
  /** Reservations whose registration has not begun. */
  readonly reservedNames: readonly string[];
  /** Of a delivery that is stored, and of an operation that has ended. */
  readonly guid: string;
  readonly operation: string;
}

/** The number of each kind. */
const MOST = 100;

export async function findGiven(db: Db): Promise<Given> {
  const given = await onlyRowOf<Given>(db)`
    select array(select demand_key from jobs where wants_worker group by demand_key order by count(*) desc, 1 limit ${MOST}) as "demandKeys",
      array(select job_id from jobs where wants_worker order by job_id limit ${MOST}) as "jobIds",
      array(select pod_name from workers where status = 'running' order by pod_name limit ${MOST}) as "podNames",
      array(select pod_name from workers where completed_at > now() - interval '1 day' order by completed_at limit ${MOST}) as "endedNames",
      array(select pod_name from workers where status = 'pending' and registration_started_at is null and pod_uid is null limit ${MOST}) as "reservedNames",
      (select delivery_guid from installation_events where id = 77) as guid, (select id from operations order by expires_at desc limit 1) as operation`;
  return { ...given, demandKeys: given.demandKeys.map(Number), jobIds: given.jobIds.map(Number) };
}
