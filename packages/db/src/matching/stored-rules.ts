import type { MatchingSettings } from '@paddock/domain/matching/matching-settings';
import type { StoredRules } from '@paddock/domain/matching/stored-rules';
import { isUsable, toldPlaces } from '../entities/whom-to-ask.ts';
import { AWAY_SERVICES } from '../outages.ts';
import { prepared } from '../connection/prepared.ts';
import { onlyRowOf, rowsOf } from '../rows.ts';
import type { Db } from '../schema/tables.ts';
import { LIVE, PLACELESS, RESERVED, UNASSIGNED, UNPLACED } from '../states/states.ts';
import { DOCUMENT_IN_FORCE } from '../pools/pools-documents.ts';
import type { GroupAccess } from '@paddock/domain/pools/runner-group';
import { NOT_ASSIGNED } from '@paddock/domain/workers/stop-reasons';
import { milliseconds } from '../milliseconds.ts';
import { NO_FAILURES } from '../workers/failing-keys.ts';

/** The pools' rules, switches, the cluster's capacity, failures and GitHub's budgets. */
export const findStoredRules = (db: Db, settings: MatchingSettings) =>
  onlyRowOf<StoredRules>(db)`${prepared}
    with document as ${DOCUMENT_IN_FORCE},
    pools as (
      select jsonb_agg(jsonb_build_object(
        'name', p ->> 'name', 'paused', coalesce(p -> 'paused', 'false'),
        'cap', p -> 'maxWorkers', 'repositoryCap', p -> 'maxWorkersPerRepository',
        'entities', p -> 'entities', 'repositories', p -> 'repositories', 'maxUnschedulable', p -> 'maxUnschedulable',
        'stopped', exists (select from switches where subject_type = 'pool' and subject_id = p ->> 'name'))) as pools
      from document cross join jsonb_array_elements(content -> 'pools') p
    ),
    reserved as (
      select installation_id, count(*) as reserved from workers where ${RESERVED} group by installation_id
    ),
    -- A reservation is registered within moments, so those of the last minute count as registrations, unless they ended without one.
    -- Older ones that may be registered at any moment, or just were, count as well.
    recent as (
      select installation_id, ${settings.registrationsPerMinute}::integer - count(*) as allowed
      from (
        select installation_id from workers
        where created_at > now() - interval '1 minute' and (status <> 'failed' or registration_started_at is not null)
        union all
        select installation_id from workers
        where ${LIVE} and created_at <= now() - interval '1 minute'
          and (registration_started_at > now() - interval '1 minute' or registration_started_at is null and pod_uid is null)
      ) registrations
      group by installation_id
    ),
    stated as (
      select installation_id, registrations_left - coalesce(reserved, 0) as allowed
      from installations left join reserved using (installation_id) where registrations_reset_at > now()
    ),
    budgets as (
      select jsonb_object_agg(installation_id::text, least(stated.allowed, recent.allowed)) as budgets
      from stated full join recent using (installation_id)
    ),
    failing as (
      select demand_key, entity_id, k8s_pool, failure_class, paused_until > now() as is_paused, failing_since,
        paused_until > now() or exists (select from jobs where demand_key = k.demand_key and wants_worker) as is_in_use,
        (select jsonb_build_object('registered', count(registered_at), 'pod_created', count(pod_uid), 'started', count(running_at))
          from workers where demand_key = k.demand_key and ${UNASSIGNED}) as shown,
        (select count(*) from jobs where failure_class = ${NOT_ASSIGNED} and demand_key = k.demand_key and wants_worker and repo_id not in (
          select repo_id from jobs where demand_key = k.demand_key and wants_worker and created_at <= k.failed_at)) as others
      from demand_keys k where pauses > 0
    ),
    -- The first of a suspected pool's workers shows whether it fails for its key too. A node's instants have whole seconds and its own clock,
    -- so what was registered since has also begun to run since.
    started as (
      select demand_key, max(greatest(running_at, registered_at)) as started_at from workers
      where ${LIVE} and running_at is not null and k8s_pool in (select k8s_pool from failing group by k8s_pool having count(distinct entity_id) > 1)
      group by demand_key
    ),
    nodeless as (
      select demand_key, unplaced, unschedulable
      from (select distinct demand_key from workers where ${PLACELESS}) n
      cross join lateral (
        select count(*) as unplaced, count(*) filter (where ${PLACELESS}) as unschedulable
        from workers where demand_key = n.demand_key and ${UNPLACED}
      ) of_key
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
    )
    select coalesce((select pools from pools), '[]') as pools,
      coalesce((select content -> 'entities' from document), '{}') as entities,
      (select coalesce(jsonb_object_agg(login, entity_id), '{}') from login_pins) as pins,
      (select coalesce(jsonb_agg(login), '[]') from login_pins p where exists (
        select from installations i where i.entity_id = p.entity_id and lower(i.login) = p.login and i.deleted_at is null)) as "currentPins",
      exists (select from switches where subject_type = 'environment') as "environmentStopped",
      (select coalesce(jsonb_agg(subject_id::bigint), '[]') from switches where subject_type = 'entity') as "stoppedEntities",
      coalesce((select barred from barred), '{}') as barred,
      coalesce((select budgets from budgets), '{}') as budgets, ${settings.registrationsPerMinute}::integer as "usualBudget",
      ${AWAY_SERVICES} as away, ${toldPlaces(settings.appIds)} as told,
      (select coalesce(jsonb_agg(jsonb_build_object('demandKey', demand_key, 'entityId', entity_id, 'pool', k8s_pool,
        'failureClass', failure_class, 'isPaused', is_paused, 'isInUse', is_in_use, 'shown', shown, 'others', others, 'since', extract(epoch from failing_since))), '[]') from failing) as failing,
      (select coalesce(jsonb_object_agg(demand_key, paused_until > now()), '{}') from runner_groups where paused_until is not null) as "openGroups",
      (select coalesce(jsonb_object_agg(demand_key, extract(epoch from started_at)), '{}') from started) as started,
      (select coalesce(jsonb_object_agg(demand_key, jsonb_build_object('unplaced', unplaced, 'unschedulable', unschedulable)), '{}')
        from nodeless) as nodeless`;

export interface GroupToSave {
  readonly entityId: number;
  readonly pool: string;
  readonly name: string;
  /** Undefined: GitHub shows no group of that name. */
  readonly access: GroupAccess | undefined;
  /** A sentence that says what it lets in beyond what the pool serves. */
  readonly excess: string | undefined;
  /** For how long no runner is registered there, in milliseconds; undefined: runners are. */
  readonly pauseMs: number | undefined;
}

/**
 * Writes down what a pool's runner group lets in. Where that has changed, forgets that idle runners
 * got no job there. Returns whether it now lets in other things too much than before.
 */
export async function saveRunnerGroup(db: Db, group: GroupToSave): Promise<boolean> {
  const { entityId, pool, name, access, excess = null, pauseMs = null } = group;
  const {
    visibility = null,
    allowsPublicRepositories = null,
    workflows = null,
    repositories = null,
  } = access ?? {};
  const rows = await rowsOf<{ isNews: boolean }>(db)`${prepared}
    with stated as (
      select demand_key_of(${entityId}::bigint, 0, ${pool}::text) as demand_key, ${excess}::text as excess
    ),
    saved as (
      insert into runner_groups as g (demand_key, entity_id, k8s_pool, name, visibility, allows_public_repositories, workflows, repositories,
        excess, paused_until)
      select demand_key, ${entityId}::bigint, ${pool}::text, ${name}::text, ${visibility}::text, ${allowsPublicRepositories}::boolean,
        ${workflows && JSON.stringify(workflows)}::jsonb, ${repositories && JSON.stringify(repositories)}::jsonb,
        excess, now() + ${milliseconds(pauseMs)}
      from stated
      on conflict (demand_key) do update set name = excluded.name, visibility = excluded.visibility,
        allows_public_repositories = excluded.allows_public_repositories, workflows = excluded.workflows,
        repositories = excluded.repositories, excess = excluded.excess, paused_until = excluded.paused_until, read_at = now()
    ),
    -- Other jobs may use it now: that may end why idle runners got none.
    forgotten as (
      update demand_keys k set ${NO_FAILURES} from stated join runner_groups known using (demand_key)
      where k.demand_key = stated.demand_key and k.failure_class = ${NOT_ASSIGNED}
        and (known.name, known.visibility, known.allows_public_repositories, known.workflows, known.repositories) is distinct from
          (${name}::text, ${visibility}::text, ${allowsPublicRepositories}::boolean,
            ${workflows && JSON.stringify(workflows)}::jsonb, ${repositories && JSON.stringify(repositories)}::jsonb)
    )
    select stated.excess is distinct from known.excess as "isNews" from stated left join runner_groups known using (demand_key)`;
  return rows[0]?.isNews === true;
}
