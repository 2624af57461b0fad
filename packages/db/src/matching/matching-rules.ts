import type { AccountBreaker, Breakers, MatchingRules, OpenBreaker, PoolRule } from '@paddock/domain/matching/matching-rules';
import type { WaitReason } from '@paddock/domain/matching/wait-reasons';
import { USUAL_MAX_WORKERS } from '@paddock/domain/pools/entities';
import { type Kysely, sql } from 'kysely';
import type { BreakerSubject } from '../breakers/breaker-subjects.ts';
import { RATE_LIMITED } from '../breakers/failure-classes.ts';
import { isUsable } from '../accounts/installation-today.ts';
import { prepared } from '../connection/prepared.ts';
import type { Database } from '../schema/tables.ts';
import { NAMES_ENTITY } from './stopped-making.ts';
import type { UnservedPauses } from './unserved-keys.ts';
import { OUTDATED_RUNNER } from '../workers/outdated-runners.ts';

/** What the settings and the configuration say. */
export interface MatchingSettings {
  /** The Apps that are configured here: no other can register a runner. */
  readonly appIds: readonly number[];
  /** So many workers of a pool that no node takes, and no more are made. */
  readonly unschedulableLimit: number;
  /** How often one more is tried nevertheless, in milliseconds. */
  readonly trialEveryMs: number;
  /** Most registrations of one installation in a minute: GitHub's secondary limit. */
  readonly registrationsPerMinute: number;
  /** How long a worker without a job is left alone once it is registered, in milliseconds: it serves the next job of its key. */
  readonly surplusAfterMs: number;
  /** How long a warm worker is kept, in milliseconds: GitHub forgets a registration that is not used for a day. */
  readonly warmLifetimeMs: number;
  /** How long no more are made for a key to whose idle workers GitHub gives no job. */
  readonly unservedPauses: UnservedPauses;
}

interface Row {
  pools: PoolRule[];
  entities: Record<string, { maxWorkers?: number | null; weight?: number; commonMaxWorkers?: number; commonWeight?: number }>;
  pins: Record<string, number>;
  /** Of these logins those that their account bears today. */
  borne: string[];
  environmentStopped: boolean;
  stoppedEntities: number[];
  barred: Record<string, 'installation_gone' | 'installation_suspended' | 'app_not_configured'>;
  budgets: Record<string, number>;
  unserved: Record<string, 0 | 1>;
  openGroups: Record<string, 0 | 1>;
  breakers: {
    type: BreakerSubject['type'];
    id: string;
    failureClass: string;
    isOpen: boolean;
    trials: 0 | 1;
    isPaused: boolean;
    failed: number;
  }[];
}

/** GitHub has asked to wait, and a registration is among what has to. */
const IS_WAIT = sql`(failure_class = ${sql.lit(RATE_LIMITED)} and paused_until > now() and subject_id not like '%/core')`;

/**
 * What the pools document in force, the stops, the cluster's capacity and GitHub's budgets allow. The document is read leniently: it may
 * be that of a newer version, as long as what is read here means the same.
 */
export async function findMatchingRules(db: Kysely<Database>, settings: MatchingSettings): Promise<MatchingRules> {
  const { rows } = await sql<Row>`${prepared}
    with document as (select content from pools_documents order by version desc limit 1),
    short as (
      select k8s_pool, 1 - least(1, (
        select count(*) from workers newest
        where newest.created_at > now() - ${settings.trialEveryMs}::float8 * interval '1 millisecond' and newest.k8s_pool = waiting.k8s_pool)
      ) as trials
      from workers waiting
      where unschedulable_at is not null and status = 'pending' and stopping_at is null
      group by k8s_pool having count(*) >= ${settings.unschedulableLimit}::integer
    ),
    pools as (
      select jsonb_agg(jsonb_build_object(
        'name', p ->> 'name', 'paused', coalesce(p -> 'paused', 'false'),
        'cap', p -> 'maxWorkers', 'repositoryCap', p -> 'maxWorkersPerRepository',
        'entities', p -> 'entities', 'repositories', p -> 'repositories', 'trials', short.trials,
        'stopped', exists (select from stopped_making where subject_type = 'pool' and subject_id = p ->> 'name'))) as pools
      from document cross join jsonb_array_elements(content -> 'pools') p left join short on short.k8s_pool = p ->> 'name'
    ),
    unregistered as (
      select installation_id, entity_id, scope_repo_id, k8s_pool, cluster from workers
      where status = 'pending' and registration_started_at is null and pod_uid is null
    ),
    -- A reservation is registered within moments, so those of the last minute stand for its registrations; unless they ended without one.
    -- What was held back for longer, and may be registered at any moment or just was, counts as well.
    recent as (
      select installation_id, ${settings.registrationsPerMinute}::integer - count(*) as allowed
      from (
        select installation_id from workers
        where created_at > now() - interval '1 minute' and (status <> 'failed' or registration_started_at is not null)
        union all
        select installation_id from workers
        where status in ('pending', 'running') and created_at <= now() - interval '1 minute'
          and (registration_started_at > now() - interval '1 minute' or registration_started_at is null and pod_uid is null)
      ) registrations
      group by installation_id
    ),
    told as (
      select installation_id, case when paused_until > now() then 0 else remaining - coalesce(reserved, 0) end as allowed
      from registration_budgets
      left join (select installation_id, count(*) as reserved from unregistered group by installation_id) u using (installation_id)
      where paused_until > now() or reset_at > now()
    ),
    budgets as (
      select jsonb_object_agg(installation_id::text, greatest(0, least(told.allowed, recent.allowed))) as budgets
      from told full join recent using (installation_id)
    ),
    breakers as (
      select jsonb_agg(jsonb_build_object('type', subject_type, 'id', split_part(subject_id, '/', 1), 'failureClass', failure_class,
        'isPaused', coalesce(paused_until > now(), false), 'isOpen', pauses > 0 or ${IS_WAIT}, 'failed', coalesce(cardinality(workers), failures + pauses), 'trials', case when ${IS_WAIT} or exists (
          select from unregistered u
          where case subject_type when 'pool' then subject_id in (u.k8s_pool, u.k8s_pool || '@' || u.entity_id) when 'installation' then u.entity_id::text = subject_id
            when 'repository' then u.scope_repo_id::text = subject_id when 'cluster' then u.cluster = subject_id else true end) then 0 else 1 end) order by ${IS_WAIT}, failed_at) as breakers
      from breakers b where pauses > 0 and failure_class <> ${sql.lit(RATE_LIMITED)} or ${IS_WAIT}
        -- Of a pool that is held back also the accounts that are not.
        or subject_type = 'pool' and subject_id like '%@%' and exists (
          select from breakers p where p.subject_type = 'pool' and p.subject_id = split_part(b.subject_id, '@', 1) and p.pauses > 0)
    ),
    barred as (
      select jsonb_object_agg(entity_id::text, reason) as barred
      from (
        select entity_id, case when bool_and(deleted_at is not null) then 'installation_gone'
          when bool_or(deleted_at is null and app_id = any(${settings.appIds}::bigint[])) then 'installation_suspended' else 'app_not_configured' end as reason
        from installations i
        where not (${isUsable('i', settings.appIds)}) and not exists (
          select from installations w where w.entity_id = i.entity_id and ${isUsable('w', settings.appIds)})
        group by entity_id
      ) unusable
    ),
    open_groups as (
      select jsonb_object_agg(demand_key::text, case when paused_until > now() or exists (
        select from workers w
        where w.demand_key = g.demand_key and status in ('pending', 'running') and assigned_at is null and stopping_at is null
      ) then 0 else 1 end) as groups
      from runner_groups g where paused_until is not null
    ),
    -- Whoever is unassigned now stands for the trial.
    unserved as (
      select jsonb_object_agg(demand_key::text, case when paused_until > now() or exists (
        select from workers w
        where w.demand_key = u.demand_key and status in ('pending', 'running') and assigned_at is null and stopping_at is null
      ) then 0 else 1 end) as unserved
      from unserved_keys u where rounds > 0
    )
    select coalesce((select pools from pools), '[]') as pools,
      coalesce((select content -> 'entities' from document), '{}') as entities,
      (select coalesce(jsonb_object_agg(login, entity_id), '{}') from login_pins) as pins,
      (select coalesce(jsonb_agg(login), '[]') from login_pins p where exists (
        select from installations i where i.entity_id = p.entity_id and lower(i.login) = p.login and i.deleted_at is null)) as borne,
      exists (select from stopped_making where subject_type = 'environment') as "environmentStopped",
      (select coalesce(jsonb_agg(case when ${NAMES_ENTITY} then subject_id::bigint end), '[]') from stopped_making where ${NAMES_ENTITY}) as "stoppedEntities",
      coalesce((select barred from barred), '{}') as barred,
      coalesce((select budgets from budgets), '{}') as budgets, coalesce((select breakers from breakers), '[]') as breakers,
      coalesce((select unserved from unserved), '{}') as unserved, coalesce((select groups from open_groups), '{}') as "openGroups"`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('PostgreSQL answered a select of one row with none.');
  const entities = Object.entries(row.entities).map(([key, { maxWorkers, weight }]) => {
    return [key.toLowerCase(), { cap: maxWorkers === undefined ? USUAL_MAX_WORKERS : maxWorkers, weight: weight ?? 1 }] as const;
  });
  const everybody = row.entities['*'];
  return {
    pools: new Map(row.pools.map((pool) => [pool.name, pool])),
    entities: new Map(entities),
    pins: new Map(Object.entries(row.pins)),
    common: everybody && { cap: everybody.commonMaxWorkers ?? null, weight: everybody.commonWeight ?? 1 },
    listed: listedAccounts(row),
    environmentStopped: row.environmentStopped,
    stoppedEntities: new Set(row.stoppedEntities),
    barred: new Map(Object.entries(row.barred).map(([entityId, reason]) => [Number(entityId), reason])),
    breakers: toBreakers(row.breakers),
    usualBudget: settings.registrationsPerMinute,
    unserved: byKey(row.unserved),
    openGroups: byKey(row.openGroups),
    budgets: new Map(Object.entries(row.budgets).map(([installation, allowed]) => [Number(installation), allowed])),
  };
}

const byKey = (trials: Record<string, 0 | 1>) => new Map(Object.entries(trials).map(([demandKey, count]) => [Number(demandKey), count]));

/** Accounts that are listed by their id, or bear a listed login today. */
function listedAccounts({ entities, pins, borne }: Row): ReadonlySet<number> {
  const keys = Object.keys(entities).map((key) => key.toLowerCase());
  const logins = new Set(borne.filter((login) => keys.includes(login)));
  return new Set([
    ...keys.flatMap((key) => (key.startsWith('id:') ? [Number(key.slice(3))] : [])),
    ...Object.entries(pins).flatMap(([login, entityId]) => (logins.has(login) ? [entityId] : [])),
  ]);
}

/** Of several for one subject a wait that GitHub asked for tells the reason, else the last that failed. */
function toBreakers(rows: Row['breakers']): Breakers {
  const pools = new Map<string, OpenBreaker>();
  const accounts = new Map<string, AccountBreaker>();
  const failed = new Map<string, number>();
  const entities = new Map<number, OpenBreaker>();
  const repositories = new Map<number, OpenBreaker>();
  let everywhere: OpenBreaker | undefined;
  for (const { trials, isPaused, isOpen, ...row } of rows) {
    const breaker = { trials, reason: reasonOf(row) };
    if (row.type === 'pool' && row.id.includes('@')) {
      failed.set(row.id, (failed.get(row.id) ?? 0) + row.failed);
      if (isOpen) accounts.set(row.id, { ...breaker, isPaused: isPaused || accounts.get(row.id)?.isPaused === true });
    } else if (row.type === 'pool') pools.set(row.id, breaker);
    else if (row.type === 'installation') entities.set(Number(row.id), breaker);
    else if (row.type === 'repository') repositories.set(Number(row.id), breaker);
    else if (row.type === 'github' || row.type === 'cluster') everywhere = breaker;
  }
  return { everywhere, pools, accounts, failed, entities, repositories };
}

/** What failures of something are called where they hold jobs back. */
export function reasonOf({ type, failureClass }: { type: BreakerSubject['type']; failureClass: string }): WaitReason {
  switch (type) {
    case 'pool':
      return failureClass === OUTDATED_RUNNER ? 'runner_outdated' : 'pool_failing';
    case 'app':
    case 'installation':
      return INSTALLATION_REASONS.get(failureClass) ?? 'installation_refused';
    case 'repository':
      return failureClass === 'not_found' ? 'repository_gone' : 'repository_refused';
    case 'github':
      return 'github_unavailable';
    case 'cluster':
      return 'cluster_unavailable';
    default:
      throw new Error(`A breaker guards something unknown: ${String(type satisfies never)}`);
  }
}

const INSTALLATION_REASONS: ReadonlyMap<string, WaitReason> = new Map([
  ['not_found', 'installation_gone'],
  ['rate_limited', 'github_budget'],
  ['conflict', 'registration_conflict'],
]);
