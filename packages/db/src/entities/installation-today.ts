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
 * here, installed and not suspended. One that GitHub does not refuse comes first, then the row's own,
 * then the latest stated. For an unknown entity it is the row's own installation. Both columns are null where no App may be used.
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
          refused_since is not null or app_id in (select app_id from apps where refused_since is not null) as is_refused
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

/**
 * For a WHERE: the App of this row of `installations` is configured here, installed and not
 * suspended.
 */
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
