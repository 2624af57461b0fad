import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';
import { APP_ID } from '../app-id.ts';
import { numbers, podName } from '../growth/year-columns.ts';
import { type ConsoleSizes, random, skewedYear } from './skewed-year.ts';

/** Workers, repositories, installations and sweeps. */
const SUBJECTS = 10_000;
/** Every so many jobs of the year one gives a subject. */
const APART = 97;

/**
 * The most are of few subjects. One in fifty failed in the last fortnight, half of which somebody
 * has dealt with; the others ended well in the last day.
 */
export async function putOperations(
  db: Kysely<Database>,
  { history, operations, entities }: ConsoleSizes,
): Promise<void> {
  const shown = sql`(select s * ${sql.lit(APART)} % ${sql.lit(history)} + 1 as n from generate_series(0, ${sql.lit(SUBJECTS - 1)}) s)`;
  await sql`
    with subjects as materialized (
      select s, e, (array['worker', 'worker', 'worker', 'repository', 'installation', 'schedule'])[s % 6 + 1] as type, pod, full_name
      from (
        select (row_number() over (order by n) - 1) as s, e, ${podName('ended')} as pod, full_name
        from ${skewedYear(history, entities, sql`${shown} subjects`)}) numbered
    )
    insert into operations (id, kind, subject_type, subject_id, subject_name, payload, origin, requested_by, status, attempt, max_attempts, crashes, failures, queued_at,
      started_at, finished_at, expires_at, failure_reason, failure_message, output, entity_id, handled_by, handled_at)
    select gen_random_uuid(), case type when 'worker' then (array['provision-worker', 'stop-worker', 'diagnose-pod', 'remove-secret'])[n % 4 + 1]
        when 'repository' then 'discover-jobs' when 'installation' then 'discover-jobs' else 'redeliver' end,
      type, case type when 'worker' then pod when 'repository' then full_name when 'installation' then e::text else 'redeliver:' || ${sql.lit(APP_ID)}::bigint end, null, '{}',
      case when n % 30 = 0 then 'MANUAL' else 'AUTOMATIC' end, case when n % 30 = 0 then 'token ci' end, case when is_bad then 'ERROR' else 'OK' end, 1 + n % 3, 5, 0,
      case when is_bad then jsonb_build_array(jsonb_build_object('attempt', 1, 'at', at, 'reason', 'attempts', 'message', repeat('It failed. ', 20))) else '[]' end,
      at, at, at + interval '3 seconds', at + case when is_bad then interval '14 days' else interval '1 day' end, case when is_bad then 'attempts' end,
      case when is_bad then repeat('It failed. ', 20) end, case when not is_bad then '{"done": 1}'::jsonb end,
      case when type <> 'schedule' then e end, case when is_bad and n % 2 = 0 then 'token ci' end, case when is_bad and n % 2 = 0 then at end
    from (
      select n, is_bad, now() - ${random(11)} * case when is_bad then interval '13 days 23 hours' else interval '23 hours' end - interval '1 minute' as at,
        floor(${sql.lit(SUBJECTS)} * power(${random(12)}, 2))::bigint as s
      from (select n, ${random(10)} < 0.02 as is_bad from ${numbers(1, operations)}) drawn) done
    join subjects using (s)`.execute(db);
  await sql`
    insert into task_counts (hour, kind, outcome, ended)
    select date_trunc('hour', now(), 'UTC') - n * interval '1 hour', kind, 'OK', 100
    from ${numbers(0, 8_760)}, unnest(array['provision-worker', 'stop-worker', 'remove-secret', 'diagnose-pod', 'discover-jobs', 'look-up-jobs']) kind`.execute(
    db,
  );
}

/** People act seldom: as many in a year as a token of a script may make. */
export async function putActions(db: Kysely<Database>, entities: number): Promise<void> {
  await sql`
    insert into actions (person, came_from, endpoint, subject, acted_at)
    select 'token ci', 'api', 'resyncRepository', jsonb_build_object('repository', 'entity-' || n % ${sql.lit(entities)} + 1 || '/app'), now() - n * interval '1 hour'
    from ${numbers(1, 8_000)}`.execute(db);
}
