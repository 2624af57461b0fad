import type { MatchingSettings } from '@paddock/domain/matching/matching-settings';
import type { StoredRules } from '@paddock/domain/matching/stored-rules';
import { type Kysely, sql } from 'kysely';
import { RATE_LIMITED } from '../breakers/failure-classes.ts';
import { KEY_BREAKER_ID } from '../breakers/breaker-subjects.ts';
import { HOLDS_REGISTRATIONS } from '../breakers/waits.ts';
import { isUsable } from '../entities/installation-today.ts';
import { prepared } from '../connection/prepared.ts';
import type { Database } from '../schema/tables.ts';
import { NAMES_ENTITY } from './stopped-making.ts';
import { LIVE, PLACELESS, RESERVED } from '../states/worker-states.ts';
import { milliseconds } from '../milliseconds.ts';
import { DOCUMENT_IN_FORCE } from '../pools/pools-documents.ts';

/**
 * The rules of the pools document in force, the stops, the cluster's capacity, failures and
 * GitHub's budgets.
 */
export async function findStoredRules(
  db: Kysely<Database>,
  settings: MatchingSettings,
): Promise<StoredRules> {
  const { rows } = await sql<StoredRules>`${prepared}
    with document as ${DOCUMENT_IN_FORCE},
    short as (
      select k8s_pool, 1 - least(1, (
        select count(*) from workers newest
        where newest.created_at > now() - ${milliseconds(settings.trialEveryMs)} and newest.k8s_pool = waiting.k8s_pool)
      ) as trials
      from workers waiting
      where ${PLACELESS}
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
      select installation_id, remaining - coalesce(reserved, 0) as allowed
      from registration_budgets left join reserved using (installation_id) where reset_at > now()
    ),
    budgets as (
      select jsonb_object_agg(installation_id::text, least(stated.allowed, recent.allowed)) as budgets
      from stated full join recent using (installation_id)
    ),
    breakers as (
      select jsonb_agg(jsonb_build_object('type', subject_type, 'id', split_part(subject_id, '/', 1), 'failureClass', failure_class,
        'isOpen', pauses > 0 or ${HOLDS_REGISTRATIONS}, 'isWait', ${HOLDS_REGISTRATIONS}, 'isPaused', coalesce(paused_until > now(), false),
        'failed', coalesce(cardinality(workers), failures + pauses)) order by ${HOLDS_REGISTRATIONS}, failed_at) as breakers
      from breakers b where pauses > 0 and failure_class <> ${sql.lit(RATE_LIMITED)} or ${HOLDS_REGISTRATIONS}
        -- Where a pool is held back, also its entities that are not.
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
      select jsonb_agg(jsonb_build_object('type', 'pool', 'id', ${KEY_BREAKER_ID},
        'failureClass', 'runner_group_open', 'isOpen', true, 'isWait', false, 'isPaused', paused_until > now(), 'failed', 0)) as breakers
      from runner_groups where paused_until is not null
    )
    select coalesce((select pools from pools), '[]') as pools,
      coalesce((select content -> 'entities' from document), '{}') as entities,
      (select coalesce(jsonb_object_agg(login, entity_id), '{}') from login_pins) as pins,
      (select coalesce(jsonb_agg(login), '[]') from login_pins p where exists (
        select from installations i where i.entity_id = p.entity_id and lower(i.login) = p.login and i.deleted_at is null)) as "currentPins",
      exists (select from stopped_making where subject_type = 'environment') as "environmentStopped",
      (select coalesce(jsonb_agg(case when ${NAMES_ENTITY} then subject_id::bigint end), '[]') from stopped_making where ${NAMES_ENTITY}) as "stoppedEntities",
      coalesce((select barred from barred), '{}') as barred,
      coalesce((select budgets from budgets), '{}') as budgets, ${settings.registrationsPerMinute}::integer as "usualBudget",
      coalesce((select breakers from open_groups), '[]') || coalesce((select breakers from breakers), '[]') as breakers`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('PostgreSQL answered a select of one row with none.');
  return row;
}
