import type { WarmKey, WorkersToMake } from '@paddock/domain/matching/snapshot';
import { warmAt, type WarmNumbers } from '@paddock/domain/pools/warm';
import { type Expression, type RawBuilder, sql } from 'kysely';
import { installationToday, isUsable } from '../entities/whom-to-ask.ts';
import { bearsOwnLogin } from '../entities/installations.ts';
import { prepared } from '../connection/prepared.ts';
import { rowsOf } from '../rows.ts';
import type { Db, Trx } from '../schema/tables.ts';
import { STOPPING, UNASSIGNED, UNEXPLAINED } from '../states/states.ts';
import { WORKER_PREFIX } from '@paddock/domain/workers/worker-name';
import { milliseconds } from '../milliseconds.ts';
import { DOCUMENT_IN_FORCE, POOLS_IN_FORCE } from '../pools/pools-documents.ts';

/** The number of jobs to take of a key. */
interface JobsOfKey {
  readonly demandKey: number;
  readonly count: number;
}

/** `oldest`: for each key so many of the oldest jobs without a worker in the making. */
const oldestUncovered = (keys: readonly JobsOfKey[]) => sql`
  wanted as (select * from json_to_recordset(${JSON.stringify(keys)}::json) as wanted("demandKey" bigint, count integer)),
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

/** For each key when its oldest waiting jobs became known, in seconds since the epoch. */
export async function findJobTimes(
  db: Db,
  keys: readonly JobsOfKey[],
): Promise<ReadonlyMap<number, number[]>> {
  if (keys.length === 0) return new Map();
  const rows = await rowsOf<{ demandKey: number; times: number[] }>(db)`${prepared}
    with ${oldestUncovered(keys)}
    select demand_key as "demandKey", json_agg(date_part('epoch', created_at) order by created_at, job_id) as times
    from oldest group by demand_key`;
  return new Map(rows.map(({ demandKey, times }) => [demandKey, times]));
}

export interface ReservedWorker {
  podName: string;
  pool: string;
  demandKey: number;
  /** Null: it is kept warm. */
  madeForJobId: number | null;
  deliveryGuid: string | null;
}

/**
 * Inserts the given number of workers for the oldest waiting jobs of each key, with the App that
 * serves their entity today. It reads jobs and never writes them. If a name is taken, it makes one
 * fewer, and the next pass makes up for it; that takes about 2^24 workers of a pool.
 */
export async function reserveWorkers(
  trx: Trx,
  keys: readonly JobsOfKey[],
  appIds: readonly number[],
): Promise<ReservedWorker[]> {
  if (keys.length === 0) return [];
  return rowsOf<ReservedWorker>(trx)`${prepared}
    with ${oldestUncovered(keys)},
    document as ${DOCUMENT_IN_FORCE},
    pools as materialized (
      select p ->> 'name' as name, p ->> 'image' as image, p ->> 'namespace' as namespace
      from document cross join jsonb_array_elements(content -> 'pools') p
    )
    insert into workers (pod_name, provider, entity_id, entity_name, entity_type, app_id, installation_id, repo_full_name, scope_repo_id,
      job_labels, made_for_job_id, delivery_guid, k8s_pool, k8s_image, pools_version, namespace)
    select ${newWorkerName(sql.ref('instance.instance_id'), sql.ref('o.k8s_pool'))},
      o.provider, o.entity_id, o.entity_name, o.entity_type, coalesce(i.app_id, o.app_id), coalesce(i.installation_id, o.installation_id),
      case when o.entity_type = 'User' then o.repo_full_name end, o.scope_repo_id,
      o.job_labels, o.job_id, o.delivery_guid, o.k8s_pool, p.image, d.version, p.namespace
    from oldest o join pools p on p.name = o.k8s_pool cross join instance cross join document d ${installationToday('o', appIds, 'app')}
    order by o.created_at, o.job_id
    on conflict (pod_name) do nothing
    returning pod_name as "podName", k8s_pool as pool, demand_key as "demandKey", made_for_job_id as "madeForJobId",
      delivery_guid as "deliveryGuid"`;
}

/** `p`: the pools of the document in force; `w`: what each keeps warm. */
const configured = sql`
  ${POOLS_IN_FORCE} cross join jsonb_array_elements(p -> 'warm') w`;

/** Whether the document in force keeps any workers warm. */
export const hasWarm = sql`exists (select from ${configured})`;

/**
 * What the configuration keeps warm, with the entity and the repository's id (0: the entity
 * itself), or nulls. They are known once the App is installed on the entity and discovery has noted
 * the repository. When a name has passed to another repository, the one that GitHub named last has it.
 */
const placed = (appIds: readonly number[]) => sql`
  select p ->> 'name' as pool, w ->> 'scope' as scope, coalesce((w ->> 'workers')::integer, 0) as workers, w -> 'times' as times, i.entity_id, i.login, i.installation_id,
    case when i.entity_type = 'User' or p ->> 'registration' = 'repository' then r.repo_id
      when w ->> 'scope' not like '%/%' then 0 end as repo_id
  from ${configured}
  left join lateral (
    select entity_id, login, installation_id, entity_type from installations
    where lower(login) = lower(split_part(w ->> 'scope', '/', 1)) and ${isUsable('installations', appIds)}
      and ${bearsOwnLogin('installations')}
    order by stated_at desc limit 1
  ) i on true
  left join lateral (
    select repo_id from repositories where entity_id = i.entity_id and lower(full_name) = lower(w ->> 'scope')
    order by coalesce(named_at, active_at) desc limit 1
  ) r on true`;

/** A scope for which a pool keeps workers warm. */
export interface WarmScope {
  pool: string;
  scope: string;
}

/**
 * Scopes without warm workers, because it is unknown where these would register. In a fixed order.
 */
export const findUnknownWarmScopes = (db: Db, appIds: readonly number[]) =>
  rowsOf<WarmScope>(db)`${prepared}
    select pool, scope from (${placed(appIds)}) placed where entity_id is null or repo_id is null order by pool, scope`;

/** What a pool says of its workers' number and jobs, and not of what they are. */
const NOT_OF_WORKERS = sql`${'warm maxWorkers maxWorkersPerRepository maxUnschedulable paused priority entities repositories unlabelled publicRepositories allowUntrusted'.split(' ')}::text[]`;

/**
 * Keys with configured warm workers, as far as their scope is known. `aged`: those to replace, by
 * their age or because their pool has changed since they were reserved.
 */
export async function findWarmKeys(
  db: Db,
  { lifetimeMs, appIds }: { lifetimeMs: number; appIds: readonly number[] },
): Promise<WarmKey[]> {
  const rows = await rowsOf<
    Omit<WarmKey, 'wanted'> & { workers: number; times: WarmNumbers['times'] | null; at: Date }
  >(db)`${prepared}
    with named as (
      select placed.*, demand_key_of(entity_id, repo_id, pool) as demand_key
      from (${placed(appIds)}) placed where entity_id is not null and repo_id is not null
    ),
    -- A repository may be named twice, as it was and as it is called.
    keys as materialized (select distinct on (demand_key) * from named order by demand_key, workers desc),
    changed as materialized (
      select former.version, p ->> 'name' as pool
      from ${POOLS_IN_FORCE}
      join pools_documents former on former.version <> document.version
        and former.version in (select pools_version from workers where is_warm and ${UNASSIGNED})
      cross join jsonb_array_elements(former.content -> 'pools') f
      where f ->> 'name' = p ->> 'name' and f - ${NOT_OF_WORKERS} <> p - ${NOT_OF_WORKERS}
    )
    select k.demand_key as "demandKey", k.entity_id as "entityId", k.login, k.installation_id as "installationId", k.repo_id as "scopeRepoId",
      case when k.repo_id <> 0 then k.scope end as "repoFullName",
      k.pool, k.workers, k.times, now() as at, s.unassigned, s.marked, s.aged,
      (select count(*) from jobs j where j.demand_key = k.demand_key and j.wants_worker) as waiting,
      (select count(*) from workers e where e.demand_key = k.demand_key and ${UNEXPLAINED}) as unexplained,
      (select count(*) from workers r where r.demand_key = k.demand_key and ${STOPPING} and r.stop_reason = 'warm_expired') as renewing
    from keys k
    cross join lateral (
      select count(*) as unassigned, count(*) filter (where is_warm) as marked,
        coalesce(json_agg(pod_name order by registered_at, pod_name) filter (
          where is_warm and registered_at <= case when exists (select from changed c where c.version = u.pools_version and c.pool = k.pool)
            then now() else now() - ${milliseconds(lifetimeMs)} end), '[]') as aged
      from workers u where u.demand_key = k.demand_key and ${UNASSIGNED}
    ) s`;
  return rows.map(({ workers, times, at, ...key }) =>
    Object.assign(key, { wanted: warmAt({ workers, times: times ?? [] }, at) }),
  );
}

/** Marks the newest workers as warm until each key has its number. */
export async function markWarm(
  trx: Trx,
  keys: readonly { readonly demandKey: number; readonly count: number }[],
): Promise<void> {
  if (keys.length === 0) return;
  await sql`${prepared}
    with wanted as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(keys)}::jsonb) as w("demandKey" bigint, count integer)
    ),
    -- All keys at once: a plan made for few workers may read all that are unassigned, and must not do so for each key.
    of_keys as materialized (
      select pod_name, demand_key, is_warm, row_number() over (partition by demand_key order by is_warm desc, created_at desc, pod_name) as place
      from workers
      where demand_key = any(array(select "demandKey" from wanted)) and ${UNASSIGNED}
    ),
    chosen as materialized (
      select pod_name from wanted join of_keys on demand_key = "demandKey" where place <= wanted.count and not is_warm
    ),
    locked as (
      select pod_name from workers where pod_name = any(array(select pod_name from chosen)) and ${UNASSIGNED}
      order by pod_name for update skip locked
    )
    update workers w set is_warm = true from locked where w.pod_name = locked.pod_name`.execute(
    trx,
  );
}

/** Inserts workers that no job asked for, with all labels of their pool. */
export async function reserveWarmWorkers(
  trx: Trx,
  keys: readonly WorkersToMake[],
): Promise<ReservedWorker[]> {
  if (keys.length === 0) return [];
  return rowsOf<ReservedWorker>(trx)`${prepared}
    insert into workers (pod_name, entity_id, entity_name, entity_type, app_id, installation_id, repo_full_name, scope_repo_id,
      job_labels, k8s_pool, k8s_image, pools_version, namespace, is_warm)
    select ${newWorkerName(sql.ref('instance_id'), sql.ref('key.pool'))},
      i.entity_id, i.login, i.entity_type::text, i.app_id, i.installation_id, case when i.entity_type = 'User' then r.full_name end, key."scopeRepoId",
      p -> 'labels', key.pool, p ->> 'image', document.version, p ->> 'namespace', true
    from jsonb_to_recordset(${JSON.stringify(keys)}::jsonb)
      as key("entityId" bigint, "installationId" bigint, "scopeRepoId" bigint, pool text, count integer)
    cross join instance
    cross join ${DOCUMENT_IN_FORCE} document
    cross join lateral (select p from jsonb_array_elements(document.content -> 'pools') p where p ->> 'name' = key.pool limit 1) pool
    join installations i on i.entity_id = key."entityId" and i.installation_id = key."installationId" and i.deleted_at is null
    left join repositories r on r.repo_id = key."scopeRepoId"
    cross join generate_series(1, key.count)
    on conflict (pod_name) do nothing
    returning pod_name as "podName", k8s_pool as pool, demand_key as "demandKey", made_for_job_id as "madeForJobId",
      delivery_guid as "deliveryGuid"`;
}

/** SQL: a new name for a worker, as `workerName` of the domain makes it, with 12 random digits. */
export const newWorkerName = (
  instance: Expression<string>,
  pool: Expression<string>,
): RawBuilder<string> =>
  sql`${sql.lit(WORKER_PREFIX)} || ${instance} || '-' || translate(${pool}, '.', '-') || '-' || left(replace(gen_random_uuid()::text, '-', ''), 12)`;
