import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';
import { APP, NAMESPACE, podName } from '../growth/year-columns.ts';
import { type ConsoleSizes, random, skewedYear } from './skewed-year.ts';

const PLACE = sql`e, login, case when is_user then 'User' else 'Organization' end, ${APP}, e, scope, jsonb_build_array('self-hosted', pool), pool, 'runner:1', 1`;
const PLACE_COLUMNS = sql`entity_id, entity_name, entity_type, app_id, installation_id, scope_repo_id, job_labels, k8s_pool, k8s_image, pools_version`;

/** Cancelled before a runner was there. */
const IS_UNSTARTED = sql`result between 0.92 and 0.94`;
const started = sql`at + queued * interval '1 second'`;
const ended = sql`${started} + ran * interval '1 second'`;

export async function putEndedJobs(
  db: Kysely<Database>,
  { history, entities }: ConsoleSizes,
): Promise<void> {
  await sql`
    insert into jobs (${PLACE_COLUMNS}, job_id, run_id, run_attempt, job_name, repo_id, repo_full_name, status, wants_worker, failure_info, k8s_pod,
      conclusion, queued_at, started_at, completed_at, created_at, updated_at, html_url, workflow_name, delivery_guid)
    select ${PLACE}, n, run, 1, 'build (' || n % 7 || ')', r, full_name, case when result > 0.999 then 'failed' else 'completed' end::status_enum, false,
      case when result > 0.999 then '{"version": 1, "message": "GitHub knows no such job."}'::jsonb end, case when not (${IS_UNSTARTED}) then ${podName('ended')} end,
      case when result < 0.8 then 'success' when result < 0.92 then 'failure' when result < 0.98 then 'cancelled' when result < 0.998 then 'skipped'
        when result <= 0.999 then 'timed_out' end,
      at, case when not (${IS_UNSTARTED}) then ${started} end, ${ended}, at, ${ended},
      'https://github.com/' || full_name || '/actions/runs/' || run || '/job/' || n, workflow, md5(n::text)
    from ${skewedYear(history, entities)}`.execute(db);
}

/** One in twenty failed, and one in twenty ended without a job. */
export async function putEndedWorkers(
  db: Kysely<Database>,
  { history, entities }: ConsoleSizes,
): Promise<void> {
  await sql`
    insert into workers (${PLACE_COLUMNS}, pod_name, made_for_job_id, namespace, repo_full_name, status, failure_info, stop_reason, stopping_at,
      assigned_at, assigned_job_id, exit_code, k8s_node, pod_uid, pod_created_at, runner_id, registered_labels, registration_started_at, registered_at,
      registration_gone_at, secret_deleted_at, pod_deleted_at, running_at, completed_at, created_at, updated_at)
    select ${PLACE}, ${podName('ended')}, n, ${NAMESPACE}, case when is_user then full_name end, case when fate < 0.05 then 'failed' else 'completed' end::status_enum,
      case when fate < 0.05 then '{"version": 2, "message": "The container runner ended with exit code 137 (OOMKilled)."}'::jsonb end,
      case when fate < 0.05 then (array['idle', 'pending_timeout', 'not_assigned', 'unwanted'])[n % 4 + 1] end,
      case when fate < 0.05 then ${started} end, case when fate >= 0.1 and not (${IS_UNSTARTED}) then ${started} end,
      case when fate >= 0.1 and not (${IS_UNSTARTED}) then n end, case when fate < 0.05 then 137 else 0 end, 'node-' || n % 200, 'uid-' || n, at, n,
      '["self-hosted"]', at, at, ${ended}, ${ended}, case when ${ended} < now() - interval '6 hours' then ${ended} + interval '6 hours' end,
      ${started} - interval '2 seconds', ${ended}, at + interval '1 second', ${ended}
    from (select *, ${random(8)} as fate from ${skewedYear(history, entities)}) worked`.execute(db);
}

/** As the sweep sums up: each worker has the time of its job, and some more. */
export async function putUsage(db: Kysely<Database>): Promise<void> {
  await sql`
    insert into usage_hours (hour, entity_id, repo_id, repo_full_name, workflow_name, k8s_pool, queued, jobs, workers, pod_ms, idle_ms, thrown_away_ms)
    select hour, entity_id, repo_id, max(repo_full_name), workflow_name, k8s_pool, array_agg(seconds::integer order by seconds) filter (where seconds is not null),
      count(*), count(seconds), coalesce(sum(ran + 9000), 0), count(seconds) * 9000, coalesce(sum(ran) filter (where job_id % 20 = 0), 0)
    from (
      select *, date_trunc('hour', created_at) as hour, round(extract(epoch from completed_at - started_at) * 1000) as ran,
        round(extract(epoch from started_at - queued_at), least(0, 1 - floor(log(greatest(extract(epoch from started_at - queued_at), 1)))::integer)) as seconds
      from jobs where completed_at is not null) ended
    group by hour, entity_id, repo_id, workflow_name, k8s_pool order by hour`.execute(db);
}
