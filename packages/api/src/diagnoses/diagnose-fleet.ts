import { LONGEST_FAILURE } from '@paddock/db/newest-first';
import type { Db } from '@paddock/db/schema/tables';
import { LIVE } from '@paddock/db/states/states';
import type { FleetDiagnosis, Hindrance } from '@paddock/domain/why/diagnose-fleet';
import { diagnoseFleet } from '@paddock/domain/why/diagnose-fleet';
import { explainWait } from '@paddock/domain/why/explain-wait';
import { sql } from 'kysely';
import { findWaitFacts } from '../why/find-wait-facts.ts';

/** Everything that holds work back, grouped by cause, the worst first. */
export const readFleetDiagnoses = (db: Db): Promise<FleetDiagnosis[]> =>
  db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => {
      const { rows } = await sql<Hindrance>`${HINDRANCES}`.execute(trx);
      const explained = new Map<string, ReturnType<typeof explainWait>>();
      for (const { name, job } of rows) {
        const facts = job === null ? undefined : await findWaitFacts(trx, job);
        if (facts !== undefined) explained.set(name, explainWait(facts));
      }
      return diagnoseFleet(rows, explained);
    });

/** SQL: waiting jobs by the reason of their key, with the oldest; then what holds up what is not there. */
const HINDRANCES = sql`
  with waiting as materialized (
    select demand_key, count(*) as jobs, (array_agg(job_id order by created_at, job_id))[1] as job, min(created_at) as oldest
    from jobs where wants_worker group by 1
  )
  select coalesce(wait_reason, '') as name, null as subject, sum(jobs)::bigint as jobs, min(greatest(wait_since, oldest)) as since, null::timestamptz as until,
    null as message, array_agg(distinct k8s_pool order by k8s_pool) as pools, (array_agg(job order by oldest, job))[1] as job
  from waiting join demand_keys using (demand_key) where wait_reason is not null group by 1
  union all
  select 'service_silent', service, 0, coalesce(seen_at, created_at), null, null, '{}', null
  from instance cross join lateral (values ('ingress', ingress_seen_at), ('scheduler', scheduler_seen_at), ('reconciler', reconciler_seen_at)) lives (service, seen_at)
  where coalesce(seen_at, created_at) < now() - interval '1 minute'
  union all
  select case service when 'github' then 'github_unavailable' else 'cluster_unavailable' end, service, 0, since, null, message, '{}', null from outages
  union all
  select 'making_stopped', concat_ws(' ', subject_type, nullif(subject_id, '')), 0, since, null, concat_ws(': ', switched_by, note), '{}', null
  from switches
  union all
  select 'github_budget', login, 0, updated_at, wait_until, wait_message, '{}', null from installations where wait_until > now()
  union all
  select coalesce(refused_reason, ''), login, 0, refused_since, refused_until, refused_message, '{}', null from installations where refused_since is not null
  union all
  select 'workers_failing', case count(distinct entity_id) when 1 then min(entity_name) else count(distinct entity_id) || ' entities' end, 0, min(failing_since), max(paused_until),
    left(min(failure_message), ${LONGEST_FAILURE}), array_agg(distinct k8s_pool order by k8s_pool), null
  from demand_keys where pauses > 0 and failures > 0 group by failure_class
  union all
  select 'stops_held', min(pod_name), 0, min(stop_held_since), null, min(stop_held_by), array_agg(distinct k8s_pool order by k8s_pool), null
  from workers where ${LIVE} and stop_held_since < now() - interval '1 minute' having count(*) > 0
  union all
  select 'tasks_asleep', kind, 0, min(queued_at), min(due_at), left(min(failures -> -1 ->> 'message'), ${LONGEST_FAILURE}), '{}', null
  from tasks where status = 'queued' and due_at > now() + interval '1 minute' and failures <> '[]' group by kind`;
