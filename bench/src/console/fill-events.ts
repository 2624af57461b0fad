import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';
import { APP, numbers } from '../growth/year-columns.ts';
import { type ConsoleSizes, random, skewedYear } from './skewed-year.ts';

/** Jobs that no pool serves have ids from here on. */
export const UNSERVED_FROM = 2_000_000_000;

/**
 * Deliveries about jobs, of which a third fits no pool, and few about installations. One in a
 * thousand says that GitHub refused us; half of these name the App only.
 */
export async function putEvents(
  db: Kysely<Database>,
  { history, events, entities }: ConsoleSizes,
): Promise<void> {
  const each = sql.lit(Math.ceil(events / history));
  await sql`
    insert into installation_events (source, event, outcome, app_id, installation_id, entity_type, entity_id, entity_name, repo_id, job_id, delivery_guid,
      payload, received_at)
    select case what when 'auth' then 'scheduler' when 'discovered' then 'reconciler' else 'webhook' end,
      case what when 'auth' then 'auth_attempt.404' when 'selected' then 'installation_repositories.added' when 'discovered' then 'discovered.queued'
        else (array['workflow_job.queued', 'workflow_job.in_progress', 'workflow_job.completed'])[i % 3 + 1] end,
      case what when 'auth' then 'auth_404' when 'unserved' then 'ignored_no_label' when 'served' then 'job_stored' else 'ok' end,
      ${APP}, case when is_known then e end, case when is_user then 'User' else 'Organization' end::entity_type_enum, case when is_known then e end,
      case when is_known then login end, case when what in ('served', 'unserved', 'discovered') then r end,
      case when what = 'unserved' then ${sql.lit(UNSERVED_FROM)} + n when what in ('served', 'discovered') then n end, md5(i::text),
      case what when 'selected' then
        jsonb_build_object('installation', jsonb_build_object('id', e, 'account', jsonb_build_object('login', login)), 'repository_selection', 'selected',
          'repositories_added', jsonb_build_array(jsonb_build_object('id', r, 'full_name', full_name)))
      else
        jsonb_build_object('action', 'queued', 'workflow_job', jsonb_build_object('id', n, 'run_id', run, 'labels', jsonb_build_array('ubuntu-latest')),
          'rest', repeat(md5(i::text), 12)) end,
      at + step * interval '40 seconds'
    from (
      select *, what <> 'auth' or i % 2 = 0 as is_known from (
        select *, case when chance < 0.001 then 'auth' when chance < 0.0015 then 'selected' when chance < 0.004 then 'discovered'
          when chance < 0.35 then 'unserved' else 'served' end as what
        from (
          select *, ${random(9, 'i')} as chance
          from (select *, n * ${each} + step as i from ${skewedYear(history, entities)} cross join generate_series(0, ${each} - 1) step) told) drawn) said) filled
    order by i`.execute(db);
}

/** One for each entity. Some are suspended, have another name or are gone. */
export async function putInstallations(db: Kysely<Database>, entities: number): Promise<void> {
  await sql`
    insert into installations (entity_id, app_id, installation_id, login, entity_type, repository_selection, suspended_at, deleted_at, stated_at, updated_at,
      former_logins)
    select n, ${APP}, n, 'entity-' || n, case when n % 5 = 0 then 'User' else 'Organization' end::entity_type_enum, 'selected',
      case when n % 50 = 3 then now() end, case when n % 50 = 4 then now() end, now() - interval '300 days', now() - interval '300 days',
      case when n % 3 = 1 then jsonb_build_object('former-' || n, now() - interval '100 days') else '{}' end
    from ${numbers(1, entities)}`.execute(db);
}

/** As discovery knows them. */
export async function putRepositories(db: Kysely<Database>): Promise<void> {
  await sql`
    insert into repositories (repo_id, entity_id, app_id, full_name, active_at)
    select repo_id, entity_id, ${APP}, max(repo_full_name), max(created_at) from jobs group by repo_id, entity_id on conflict do nothing`.execute(
    db,
  );
}

/** Deliveries that failed, and some that were given up. */
export async function putRedeliveries(db: Kysely<Database>, entities: number): Promise<void> {
  await sql`
    insert into unresolved_deliveries (app_id, guid, delivery_id, event, action, installation_id, repository_id, first_failed_at, last_failed_at, last_status_code,
      resolved_at)
    select ${APP}, md5(n::text), n, 'workflow_job', 'queued', n % ${sql.lit(entities)} + 1, n, now() - n * interval '1 minute', now(), 502,
      case when n % 3 = 0 then now() end
    from ${numbers(1, 2_000)}`.execute(db);
  await sql`
    insert into installation_events (source, event, outcome, app_id, installation_id, delivery_guid, payload, received_at)
    select 'reconciler', 'workflow_job.queued', 'redelivery_given_up', ${APP}, n % ${sql.lit(entities)} + 1, md5(n::text),
      jsonb_build_object('delivery_id', n, 'first_failed_at', now(), 'last_failed_at', now(), 'last_status_code', 502, 'requests', 9), now() - n * interval '5 hours'
    from ${numbers(1, 1_500)}`.execute(db);
}
