import {
  APP_PROBLEMS,
  ENDED_VERSIONS,
  NOTIFICATIONS,
  OPEN_GROUPS,
  REFUSALS,
  REFUSED_CHANGES,
  SILENT_SERVICES,
  VERSIONS_APART,
} from '@paddock/db/causes';
import { LONGEST_FAILURE } from '@paddock/db/newest-first';
import { POOLS_IN_FORCE } from '@paddock/db/pools/pools-documents';
import { rowsOf } from '@paddock/db/rows';
import type { Db } from '@paddock/db/schema/tables';
import { LIVE } from '@paddock/db/states/states';
import { SUBJECT } from '@paddock/db/switches';
import type { FleetDiagnosis, Hindrance } from '@paddock/domain/why/diagnose-fleet';
import { diagnoseFleet } from '@paddock/domain/why/diagnose-fleet';
import { explainWait } from '@paddock/domain/why/explain-wait';
import { explainReason } from '@paddock/domain/why/reason-explanations';
import { type RawBuilder, sql } from 'kysely';
import { IS_FORSAKEN } from '../operations/operation.ts';
import { findWaitFacts } from '../why/find-wait-facts.ts';

/** Everything that holds work back, or the work of one pool, grouped by cause, the worst first. */
export const readFleetDiagnoses = (db: Db, pool?: string): Promise<FleetDiagnosis[]> =>
  db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => {
      const rows = await rowsOf<Hindrance>(trx)`${hindrancesOf(pool)}`;
      const explained = new Map<number, ReturnType<typeof explainReason>>();
      for (const { name, job } of rows) {
        if (job === null || name === 'making_stopped') continue;
        const facts = await findWaitFacts(trx, job);
        if (facts === undefined) continue;
        const { reason, actor, sentence, advice } = explainWait(facts);
        const isIt = reason === name && actor !== null;
        explained.set(job, isIt ? { actor, sentence, advice } : explainReason(name, facts));
      }
      return diagnoseFleet(rows, explained);
    });

type Sql = RawBuilder<unknown>;

/** SQL: the one, or null where there are several. */
const only = (name: Sql) => sql`case count(distinct ${name}) when 1 then min(${name}) end`;

/** SQL: no waiting job has this cause already. */
const isQuiet = (name: Sql, of: Sql = sql`true`) =>
  sql`not exists (select from held where wait_reason = ${name} and ${of})`;

const POOLS = sql`array_agg(distinct k8s_pool order by k8s_pool)`;
const LAST_FAILURE = sql`left(min(failures -> -1 ->> 'message'), ${LONGEST_FAILURE})`;

/** SQL: a row of causes, with its own columns in the order of the first one. */
function hindrancesOf(pool: string | undefined) {
  const isOf = pool === undefined ? sql`true` : sql`k8s_pool = ${pool}`;
  const everywhere: Sql[] = [
    sql`select 'github_budget', ${only(sql`login`)}, count(*), 0, null::timestamptz, min(until), null, min(message), '{}'::text[], null::bigint from (
      select login, entity_id, greatest(wait_until, core_wait_until, case registrations_left when 0 then registrations_reset_at end) as until,
        case when wait_until > now() then wait_message else 'its budget is used up' end as message from installations where deleted_at is null
      union all select 'the App ' || app_id, null, wait_until, wait_message from apps
    ) told where until > now() and ${isQuiet(sql`'github_budget'`, sql`held.entity_id = told.entity_id`)} group by message`,
    sql`select coalesce(refused_reason, ''), ${only(sql`name`)}, count(*), 0, min(refused_since), min(refused_until), null, min(refused_message), '{}', null
      from ${REFUSALS} where ${isQuiet(sql`refused_reason`, sql`held.entity_id = refused.entity_id`)} group by refused_reason, entity_id is null`,
    sql`select 'app_unfit', null, 1, 0, null, null, null, problem, '{}', null from ${APP_PROBLEMS}`,
    sql`select 'versions_apart', null, 1, 0, since, null, null, message, '{}', null from ${VERSIONS_APART}`,
    sql`select 'change_refused', services, 1, 0, null, null, null, message, '{}', null from ${REFUSED_CHANGES}`,
    sql`select 'notifications_refused', null, 1, 0, null, null, null, said ->> 'problem', '{}', null from ${NOTIFICATIONS} where said ? 'problem'`,
    sql`select 'tasks_asleep', kind, count(*), 0, min(queued_at), min(due_at), null, ${LAST_FAILURE}, '{}', null
      from tasks where status = 'queued' and due_at > now() + interval '1 minute' and failures <> '[]' group by kind`,
    sql`select 'kind_unserved', kind, count(*), 0, min(due_at), null, null, null, '{}', null
      from tasks where status = 'queued' and ${IS_FORSAKEN} group by kind`,
  ];
  const causes = sql.join(
    [
      sql`select coalesce(wait_reason, '') as name, null as subject, count(distinct entity_id) as many, sum(jobs)::bigint as jobs,
        min(since) as since, min(paused_until) filter (where paused_until > now()) as until, null as by, null as message, ${POOLS} as pools, (array_agg(job order by oldest, job))[1] as job
        from held where wait_reason <> 'making_stopped' group by wait_reason, case wait_reason when 'workers_failing' then failure_class end`,
      sql`select 'making_stopped', coalesce('entity:' || min(login), ${SUBJECT}), 1, coalesce(sum(jobs), 0)::bigint,
        s.since, null, switched_by, note, case when subject_type = 'pool' then array[subject_id] else coalesce(${POOLS} filter (where k8s_pool is not null), '{}') end, (array_agg(job order by oldest, job))[1]
        from switches s left join held on wait_reason = 'making_stopped' and case subject_type
          when 'environment' then true when 'pool' then k8s_pool = subject_id when 'entity' then entity_id::text = subject_id end
        left join lateral (select login from installations i where i.entity_id::text = subject_id order by updated_at desc limit 1) i on subject_type = 'entity'
        group by subject_type, subject_id having ${pool === undefined} or subject_type = 'environment' or subject_id = ${pool ?? ''} or count(job) > 0`,
      sql`select 'service_silent', service, 1, 0, since, null, null, null, '{}', null from ${SILENT_SERVICES}`,
      sql`select name, service, 1, 0, since, null, null, message, '{}', null
        from (select *, case service when 'github' then 'github_unavailable' else 'cluster_unavailable' end as name from outages) away where ${isQuiet(sql`name`)}`,
      sql`select 'pool_paused', ${only(sql`k8s_pool`)}, count(*), 0, min(loaded_at), null, null, null, ${POOLS}, null
        from (select p ->> 'name' as k8s_pool, loaded_at from ${POOLS_IN_FORCE} join pools_documents using (version) where (p -> 'paused')::boolean) paused
        where ${isOf} and ${isQuiet(sql`'pool_paused'`, sql`held.k8s_pool = paused.k8s_pool`)} having count(*) > 0`,
      sql`select 'runner_group_open', ${only(sql`k8s_pool`)}, count(distinct k8s_pool), 0, min(read_at), min(paused_until), null, min(excess), ${POOLS}, null
        from ${OPEN_GROUPS} where ${isOf} and ${isQuiet(sql`'runner_group_open'`, sql`held.demand_key = g.demand_key`)} having count(*) > 0`,
      sql`select 'workers_failing', ${only(sql`k8s_pool`)}, count(distinct k8s_pool), 0, min(failing_since), min(paused_until), null, left(min(failure_message), ${LONGEST_FAILURE}), ${POOLS}, null
        from demand_keys k where ${isOf} and pauses > 0 and failures > 0 and not exists (select from held where held.demand_key = k.demand_key) group by failure_class`,
      sql`select 'runner_outdated', ${only(sql`k8s_pool`)}, count(*), 0, min(ends_at), null, null, min(version), ${POOLS}, null
        from ${ENDED_VERSIONS} where ${isOf} and ${isQuiet(sql`'runner_outdated'`, sql`held.k8s_pool = ended.k8s_pool`)} having count(*) > 0`,
      sql`select 'stops_held', (array_agg(pod_name order by stop_held_since))[1], count(*), 0, min(stop_held_since), null, null,
        (array_agg(stop_held_by order by stop_held_since))[1], ${POOLS}, null
        from workers where ${isOf} and ${LIVE} and stop_held_since < now() - interval '1 minute' having count(*) > 0`,
      ...(pool === undefined ? everywhere : []),
    ],
    sql` union all `,
  );
  return sql`
    with waiting as materialized (
      select demand_key, count(*) as jobs, (array_agg(job_id order by created_at, job_id))[1] as job, min(created_at) as oldest
      from jobs where wants_worker group by 1
    ), held as materialized (
      select demand_key, entity_id, k8s_pool, wait_reason, failure_class, paused_until, jobs, job, oldest, greatest(wait_since, oldest) as since
      from waiting join demand_keys using (demand_key) where wait_reason is not null and ${isOf}
    ) ${causes}`;
}
