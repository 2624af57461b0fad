import { type Kysely, sql, type Transaction } from 'kysely';
import type { Database } from './tables.ts';

export interface MatchingLimits {
  /** Longest wait for the matchers before us, and for a row that another transaction holds, in milliseconds. */
  lockTimeoutMs: number;
  /** Longest run of one statement, in milliseconds. */
  statementTimeoutMs: number;
  /** How long the transaction may rest between two statements before PostgreSQL ends it, in milliseconds. */
  idleTimeoutMs: number;
}

/**
 * Makes this transaction the only matcher of its environment until it ends. A statement of its own: the statements that count demand and
 * supply must take their snapshot after the lock was granted, or two matchers make two workers for one job (C5).
 */
export async function lockMatching(trx: Transaction<Database>, limits: MatchingLimits): Promise<void> {
  await sql`select set_config('lock_timeout', ${String(limits.lockTimeoutMs)}, true),
    set_config('statement_timeout', ${String(limits.statementTimeoutMs)}, true),
    set_config('idle_in_transaction_session_timeout', ${String(limits.idleTimeoutMs)}, true),
    set_config('jit', 'off', true)`.execute(trx); // compiling these statements takes longer than running them
  // Advisory locks are known to the whole database, hence the schema's oid (A8).
  await sql`select pg_advisory_xact_lock((select oid from pg_namespace where nspname = current_schema())::int, 1)`.execute(trx);
}

export interface ReservedWorker {
  podName: string;
  pool: string;
  madeForJobId: number;
  deliveryGuid: string | null;
}

/** The pools document in force, one row per pool; a cap that is null binds nobody. */
const pools = sql`
  document as (select version, content from pools_documents order by version desc limit 1),
  pools as (
    select p ->> 'name' as k8s_pool, p ->> 'image' as image, p ->> 'namespace' as namespace,
      coalesce((p ->> 'paused')::boolean, false) as paused,
      (p ->> 'maxWorkers')::integer as cap, (p ->> 'maxWorkersPerRepository')::integer as repository_cap
    from document, jsonb_array_elements(content -> 'pools') p
  )`;

/** The cap of each account with live workers or waiting jobs: its own rule by its present login, else that of '*'. */
const entityCaps = sql`
  rules as (
    select lower(key) as login, case when value ? 'maxWorkers' then (value ->> 'maxWorkers')::integer else 20 end as cap
    from document, jsonb_each(content -> 'entities')
  ),
  entity_caps as materialized (
    select known.entity_id, rule.login is not null as allowed, rule.cap
    from (select entity_id, min(entity_name) as entity_name from known_entities group by entity_id) known
    left join lateral (
      select i.login from installations i where i.entity_id = known.entity_id and i.deleted_at is null order by i.stated_at desc limit 1
    ) account on true
    left join lateral (
      select login, cap from rules where login in (lower(coalesce(account.login, known.entity_name)), '*') order by login = '*' limit 1
    ) rule on true
  )`;

/** Live workers per key. Those that are stopping count in every cap until they have ended, and are no supply. */
const supply = sql`
  alive as materialized (
    select demand_key, entity_id, k8s_pool, count(*)::integer as alive,
      (count(*) filter (where assigned_at is null and stopping_at is null))::integer as unassigned
    from workers where status in ('pending', 'running') group by demand_key, entity_id, k8s_pool
  ),
  alive_by_entity as (select entity_id, sum(alive)::integer as alive from alive group by entity_id),
  alive_by_pool as (select k8s_pool, sum(alive)::integer as alive from alive group by k8s_pool)`;

/** Keeps the transaction short: 13 000 in one took 7 s on a busy machine, and all other matchers wait meanwhile. */
const MOST_PER_PASS = 1_000;

const waiting = sql`
  waiting as materialized (select demand_key, count(*)::integer as waiting from jobs where wants_worker group by demand_key)`;

/**
 * Reserves the workers that the waiting jobs lack: per demand key waiting - unassigned - unexplained, the oldest jobs first, inside the
 * caps of entity, pool and repository; and writes down per key what was seen and why nothing more was made (C2, C3, C4). Jobs are read,
 * never written. Call it after `lockMatching` in the same READ COMMITTED transaction.
 *
 * It makes at most `most` workers, and where two caps bind at once it may make fewer than fit, but never none: call it again after a pass
 * that made some.
 */
export async function reserveWorkers(trx: Transaction<Database>, most = MOST_PER_PASS): Promise<ReservedWorker[]> {
  const { rows } = await sql<ReservedWorker>`
  with ${pools}, ${supply}, ${waiting},
  oldest as (
    select w.demand_key, w.waiting, o.*
    from waiting w
    cross join lateral (
      select j.entity_id, j.entity_name, j.scope_repo_id, j.k8s_pool
      from jobs j where j.demand_key = w.demand_key and j.wants_worker order by j.created_at, j.job_id limit 1
    ) o
  ),
  known_entities as (select entity_id, entity_name from oldest), ${entityCaps},
  unexplained as (
    select demand_key, count(*)::integer as ends from workers
    where unexplained_until is not null and unexplained_until > now() and assigned_at is null group by demand_key
  ),
  keys as (
    select o.*, e.cap as entity_cap, p.cap as pool_cap, p.image, p.namespace,
      case when o.scope_repo_id <> 0 then p.repository_cap end as repository_cap,
      coalesce(a.unassigned, 0) as unassigned, coalesce(a.alive, 0) as key_alive,
      coalesce(ae.alive, 0) as entity_alive, coalesce(ap.alive, 0) as pool_alive,
      greatest(o.waiting - coalesce(a.unassigned, 0) - coalesce(u.ends, 0), 0) as lacking,
      case when p.k8s_pool is null then 'pool_unknown'
        when p.paused then 'pool_paused'
        when not e.allowed then 'entity_not_allowed' end as blocked_by
    from oldest o
    left join pools p using (k8s_pool)
    left join entity_caps e using (entity_id)
    left join alive a using (demand_key)
    left join alive_by_entity ae on ae.entity_id = o.entity_id
    left join alive_by_pool ap on ap.k8s_pool = o.k8s_pool
    left join unexplained u on u.demand_key = o.demand_key
  ),
  -- least() passes over null: no cap.
  room as (
    select *, least(lacking, entity_cap - entity_alive, pool_cap - pool_alive, repository_cap - key_alive) as room
    from keys where blocked_by is null
  ),
  covered as (
    select made_for_job_id from workers
    where status in ('pending', 'running') and assigned_at is null and stopping_at is null and made_for_job_id is not null
  ),
  candidates as (
    select r.image, r.namespace, r.entity_cap - r.entity_alive as entity_room, r.pool_cap - r.pool_alive as pool_room, j.*,
      row_number() over (partition by j.entity_id order by j.created_at, j.job_id) as nth_of_entity
    from room r
    cross join lateral (
      select * from jobs where demand_key = r.demand_key and wants_worker and job_id not in (select made_for_job_id from covered)
      order by created_at, job_id limit r.room
    ) j
    where r.room > 0
  ),
  fitting as (
    select *, row_number() over (partition by k8s_pool order by created_at, job_id) as nth_of_pool
    from candidates where entity_room is null or nth_of_entity <= entity_room
  ),
  reserved as (
    insert into workers (pod_name, provider, entity_id, entity_name, entity_type, app_id, installation_id, repo_full_name, scope_repo_id,
      job_labels, made_for_job_id, delivery_guid, k8s_pool, k8s_image, pools_version, namespace)
    select 'pdk-' || i.instance_id || '-' || f.k8s_pool || '-' || left(replace(gen_random_uuid()::text, '-', ''), 12),
      f.provider, f.entity_id, f.entity_name, f.entity_type, f.app_id, f.installation_id,
      case when f.entity_type = 'User' then f.repo_full_name end, f.scope_repo_id,
      f.job_labels, f.job_id, f.delivery_guid, f.k8s_pool, f.image, d.version, f.namespace
    from fitting f, instance i, document d
    where f.pool_room is null or f.nth_of_pool <= f.pool_room
    order by f.created_at, f.job_id
    limit ${most}
    on conflict (pod_name) do nothing
    returning pod_name, demand_key, entity_id, k8s_pool, made_for_job_id, delivery_guid
  ),
  made as (select demand_key, count(*)::integer as made from reserved group by demand_key),
  made_by_entity as (select entity_id, count(*)::integer as made from reserved group by entity_id),
  made_by_pool as (select k8s_pool, count(*)::integer as made from reserved group by k8s_pool),
  seen as (
    select k.demand_key, k.entity_id, k.entity_name, k.scope_repo_id, k.k8s_pool, k.waiting,
      k.unassigned + coalesce(m.made, 0) as unassigned,
      case when k.lacking - coalesce(m.made, 0) <= 0 then null
        when k.blocked_by is not null then k.blocked_by
        when k.entity_alive + coalesce(me.made, 0) >= k.entity_cap then 'at_entity_cap'
        when k.pool_alive + coalesce(mp.made, 0) >= k.pool_cap then 'at_pool_cap'
        when k.key_alive + coalesce(m.made, 0) >= k.repository_cap then 'at_repository_cap' end as wait_reason,
      least(k.entity_cap, k.pool_cap, k.repository_cap) as cap
    from keys k
    left join made m using (demand_key)
    left join made_by_entity me on me.entity_id = k.entity_id
    left join made_by_pool mp on mp.k8s_pool = k.k8s_pool
  ),
  kept as (
    insert into demand_keys as d (demand_key, entity_id, entity_name, scope_repo_id, k8s_pool, waiting, unassigned, cap, wait_reason, wait_since)
    select demand_key, entity_id, entity_name, scope_repo_id, k8s_pool, waiting, unassigned, cap, wait_reason,
      case when wait_reason is not null then now() end
    from seen
    on conflict (demand_key) do update
      set entity_name = excluded.entity_name, waiting = excluded.waiting, unassigned = excluded.unassigned, cap = excluded.cap,
        wait_reason = excluded.wait_reason,
        wait_since = case when d.wait_reason is distinct from excluded.wait_reason then excluded.wait_since else d.wait_since end,
        updated_at = now()
      where (d.entity_name, d.waiting, d.unassigned, d.cap, d.wait_reason)
        is distinct from (excluded.entity_name, excluded.waiting, excluded.unassigned, excluded.cap, excluded.wait_reason)
  ),
  at_rest as (delete from demand_keys d where not exists (select from waiting w where w.demand_key = d.demand_key))
  select pod_name as "podName", k8s_pool as pool, made_for_job_id as "madeForJobId", delivery_guid as "deliveryGuid" from reserved
  `.execute(trx);
  return rows;
}

/**
 * Ends reservations that have become too many before anybody asked GitHub for a registration: the demand has gone, a cap was lowered, the
 * pool is paused or not there any more, the account is not allowed any more. The newest go first. Returns their names.
 *
 * A row that its provisioning is just now marking is passed over, so this never waits and never takes back a registration.
 */
export async function endUnwantedWorkers(trx: Transaction<Database>): Promise<string[]> {
  const { rows } = await sql<{ pod_name: string }>`
  with ${pools}, ${supply}, ${waiting},
  unregistered as (
    select pod_name, demand_key, entity_id, entity_name, k8s_pool, scope_repo_id, stopping_at,
      row_number() over (partition by demand_key order by created_at desc, pod_name) as nth_of_key,
      row_number() over (partition by entity_id order by created_at desc, pod_name) as nth_of_entity,
      row_number() over (partition by k8s_pool order by created_at desc, pod_name) as nth_of_pool
    from workers where status = 'pending' and registration_started_at is null and pod_uid is null
  ),
  known_entities as (select entity_id, entity_name from unregistered), ${entityCaps},
  unwanted as (
    select u.pod_name
    from unregistered u
    left join pools p using (k8s_pool)
    left join entity_caps e using (entity_id)
    left join waiting w on w.demand_key = u.demand_key
    left join alive a on a.demand_key = u.demand_key
    left join alive_by_entity ae on ae.entity_id = u.entity_id
    left join alive_by_pool ap on ap.k8s_pool = u.k8s_pool
    where u.stopping_at is not null or p.k8s_pool is null or p.paused or not e.allowed
      or u.nth_of_key <= coalesce(a.unassigned, 0) - coalesce(w.waiting, 0)
      or u.nth_of_entity <= ae.alive - e.cap
      or u.nth_of_pool <= ap.alive - p.cap
      or (u.scope_repo_id <> 0 and u.nth_of_key <= a.alive - p.repository_cap)
  ),
  locked as (
    select pod_name from workers where pod_name in (select pod_name from unwanted)
      and status = 'pending' and registration_started_at is null
    order by pod_name for update skip locked
  )
  update workers w
  set status = 'failed', completed_at = now(), stop_reason = coalesce(w.stop_reason, 'unwanted'),
    failure_info = jsonb_build_object('version', 1, 'message', 'no longer wanted')
  from locked
  where w.pod_name = locked.pod_name and w.status = 'pending' and w.registration_started_at is null
  returning w.pod_name`.execute(trx);
  return rows.map((row) => row.pod_name);
}

/** How many jobs wait in each pool for which reason; null: workers are on their way to them. */
export async function countWaitingByReason(db: Kysely<Database>): Promise<{ pool: string; reason: string | null; waiting: number }[]> {
  return db
    .selectFrom('demand_keys')
    .select(({ fn }) => ['k8s_pool as pool', 'wait_reason as reason', fn.sum<number>('waiting').as('waiting')])
    .groupBy(['k8s_pool', 'wait_reason'])
    .execute();
}
