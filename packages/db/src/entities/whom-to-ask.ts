import { type RawBuilder, sql } from 'kysely';
import type { EntityType } from '../schema/tables.ts';

/** An entity, and the App and the installation through which to ask GitHub about it. */
export interface EntityToAsk {
  readonly entityId: number;
  readonly entityType: EntityType;
  readonly login: string;
  readonly appId: number;
  readonly installationId: number;
}

/**
 * Joins, as `i`, the App and installation to use for a row's entity today. They are configured
 * here, installed and not suspended. One that GitHub does not refuse comes first, then the row's
 * own, then the latest stated. For an unknown entity it is the row's own installation. Both columns
 * are null where no App may be used.
 *
 * `row` is an alias with `entity_id`; `own` says whether it also has `app_id` and
 * `installation_id`, only the former, or neither.
 */
export function installationToday(
  row: string,
  appIds: readonly number[],
  own: 'installation' | 'app' | 'nothing' = 'installation',
): RawBuilder<unknown> {
  const of = (column: string) => sql.ref(`${row}.${column}`);
  return sql`
    left join lateral (
      select app_id, installation_id from (
        select app_id, installation_id, stated_at,
          refused_since is not null or exists (select from apps a where a.app_id = installations.app_id and a.refused_since is not null) as is_refused
        from installations
        where entity_id = ${of('entity_id')} and ${isUsable('installations', appIds)}
        ${own === 'installation' ? unlessKnown(of, appIds) : sql``}
      ) usable
      order by is_refused, ${own === 'nothing' ? sql`` : sql`app_id = ${of('app_id')} desc,`} stated_at desc limit 1
    ) i on true`;
}

const unlessKnown = (of: (column: string) => RawBuilder<unknown>, appIds: readonly number[]) => sql`
        union all
        select ${of('app_id')}, ${of('installation_id')}, null, false
        where ${of('app_id')} = any(${appIds}::bigint[]) and not exists (select from installations known where known.entity_id = ${of('entity_id')})`;

/** For a WHERE: this installation is not suspended, and its App is configured here. */
export const isUsable = (alias: string, appIds: readonly number[]): RawBuilder<boolean> =>
  sql`${sql.ref(`${alias}.deleted_at`)} is null and ${sql.ref(`${alias}.suspended_at`)} is null and ${sql.ref(`${alias}.app_id`)} = any(${appIds}::bigint[])`;

/** The latest known login of a row's entity, from any App; without it, the name in the row. */
export const loginToday = (row: string): RawBuilder<string> =>
  sql.raw(`coalesce((select login from installations where entity_id = ${row}.entity_id and deleted_at is null
        order by greatest(stated_at, login_stated_at) desc limit 1), ${row}.entity_name)`);

/**
 * For a SELECT with `installationToday`: the `EntityToAsk` of a row of jobs or workers. Where no App
 * may be used, it has those of the time when the row was made.
 */
export const entityToday = (row: string): RawBuilder<unknown> => sql`
  ${sql.ref(`${row}.entity_id`)} as "entityId", ${sql.ref(`${row}.entity_type`)} as "entityType", ${loginToday(row)} as login,
  coalesce(i.app_id, ${sql.ref(`${row}.app_id`)}) as "appId", coalesce(i.installation_id, ${sql.ref(`${row}.installation_id`)}) as "installationId"`;

// What GitHub has told us stands in the row of whom it told: an App, an installation, a repository.
//
//   wait           no calls until then; only time or a person ends it
//   registrations  how many are left until the budget is full again
//   refused        no calls and no new workers until then; afterwards one worker shows whether it still
//                  holds. A success there, or news of GitHub's, ends it at once

/** Until when GitHub allows installation `i` no registrations; null: it has said nothing. */
const NO_REGISTRATIONS_UNTIL =
  'case when i.registrations_left = 0 then i.registrations_reset_at end';

/** For a WHERE: GitHub has asked installation `i` to wait with registrations. */
const HOLDS_REGISTRATIONS = sql.raw<boolean>(
  `(greatest(i.wait_until, ${NO_REGISTRATIONS_UNTIL}) > now())`,
);

/**
 * For a WHERE: sweeps may call through `i` about the entity of this row and the repository with this
 * id (0: none). GitHub has neither refused us there nor asked us to wait; an App's wait stops only
 * calls that need a new token, so it does not count.
 */
export const mayAsk = (row: string, repoId: string): RawBuilder<boolean> =>
  sql.raw(`(i.app_id is not null
    and not exists (select from apps told where told.app_id = i.app_id and refused_until > now())
    and not exists (
      select from installations told where (told.entity_id, told.app_id) = (${row}.entity_id, i.app_id)
        and greatest(refused_until, wait_until, core_wait_until) > now())
    and not exists (select from repositories told where told.repo_id = ${repoId} and refused_until > now()))`);

/** For a SELECT: how long GitHub refuses us worker `w`, in milliseconds; null: it does not. */
export const refusedForMs = (appId: string): RawBuilder<number | null> =>
  sql.raw(`(
    select extract(epoch from max(until) - now())::float8 * 1000 from (
      select refused_until from apps where app_id = ${appId}
      union all
      select refused_until from installations where (entity_id, app_id) = (w.entity_id, ${appId})
      union all
      select refused_until from repositories where repo_id = w.scope_repo_id
    ) told(until) where until > now())`);

/** A `Told`: what GitHub told us, and whether a worker is on its way that shows if it still holds. */
const guard = (reason: string, until: string, place: string) =>
  sql.raw(`jsonb_build_object('reason', ${reason}, 'isPaused', ${until} > now(), 'isTried', exists (
      select from workers w where ${place} and w.status = 'pending' and w.registered_at is null and w.stopping_at is null))`);

/**
 * For a SELECT: `StoredRules.told`. An entity is told what all its usable installations were told;
 * the one that may be asked first counts.
 */
export const toldPlaces = (appIds: readonly number[]): RawBuilder<unknown> => sql`(
  with told as materialized (
    select i.entity_id, i.app_id, greatest(i.wait_until, ${sql.raw(NO_REGISTRATIONS_UNTIL)}, i.refused_until, a.refused_until) as until,
      case when ${HOLDS_REGISTRATIONS} then 'github_budget' else coalesce(i.refused_reason, a.refused_reason) end as reason
    from installations i left join apps a using (app_id)
    where ${isUsable('i', appIds)} and (i.refused_since is not null or a.refused_since is not null or ${HOLDS_REGISTRATIONS})
  ),
  entities as (
    select distinct on (entity_id) entity_id, reason, until from told t
    where not exists (
      select from installations o where o.entity_id = t.entity_id and ${isUsable('o', appIds)}
        and (o.entity_id, o.app_id) not in (select entity_id, app_id from told))
    order by entity_id, until
  )
  select jsonb_build_object(
    'entities', coalesce((select jsonb_object_agg(entity_id, ${guard('reason', 'until', 'w.entity_id = entities.entity_id')}) from entities), '{}'),
    'repositories', coalesce((
      select jsonb_object_agg(repo_id, ${guard('refused_reason', 'refused_until', 'w.entity_id = r.entity_id and w.scope_repo_id = r.repo_id')})
      from repositories r where refused_since is not null), '{}')))`;

/** A query: the instants at which something that GitHub told us ends. */
export const TOLD_ENDS = sql.raw(`
        select least(min(wait_until) filter (where wait_until > now()), min(refused_until) filter (where refused_until > now()),
          min(registrations_reset_at) filter (where registrations_reset_at > now()))
        from installations where greatest(wait_until, refused_until, registrations_reset_at) > now()
        union all
        select min(refused_until) from apps where refused_until > now()
        union all
        select min(refused_until) from repositories where refused_since is not null and refused_until > now()`);
