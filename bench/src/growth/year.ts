import { rowsOf } from '@paddock/db/rows';
import type { Database, Db } from '@paddock/db/schema/tables';
import { putPools } from '@paddock/testing/demand-rows';
import { type RawBuilder, sql } from 'kysely';
import { APP_ID } from '../bench.ts';

/** The one App, as a literal: PostgreSQL could not infer a parameter's type here. */
const APP = sql.lit(APP_ID);
export const NAMESPACE = 'runners';
const POOLS = Array.from({ length: 20 }, (_, index) => `pool-${index}`);

/** The numbers `n` of rows. */
export const numbers = (first: number, count: number): RawBuilder<unknown> =>
  sql`generate_series(${sql.lit(first)}::bigint, ${sql.lit(first + count - 1)}::bigint) n`;

export const ENTITY_COLUMNS = sql`entity_id, entity_name, entity_type, app_id, installation_id, job_labels, k8s_pool, k8s_image, scope_repo_id, pools_version`;

/** The four jobs of a run are of one repository, one workflow and one pool. */
const RUN = sql`(n / 4)`;

/** The common columns of job `n` and worker `n`: entities take turns, and each uses two pools. */
export function entity(entities: number, n = sql`n`): RawBuilder<unknown> {
  const id = sql`${n} % ${sql.lit(entities)} + 1`;
  const pool = sql`'pool-' || (${n} % ${sql.lit(entities)} + ${n} / ${sql.lit(entities)} % 2 * 7) % 20`;
  return sql`${id}, 'entity-' || ${id}, 'Organization', ${APP}, ${id}, jsonb_build_array('self-hosted', ${pool}), ${pool}, 'runner:1', 0, 1`;
}

/** Half of the events are of the first entity. */
const eventEntity = (entities: number): RawBuilder<unknown> =>
  sql`case when n % 2 = 0 then 1 else n / 2 % ${sql.lit(entities)} + 1 end`;

/** Names in an order that does not follow time. */
export const podName = (of: 'ended' | 'living'): RawBuilder<unknown> =>
  sql`'pdk-abc123-' || left(md5(n::text), 12) || ${sql.lit(`-${of}`)}`;

/** How many rows of each kind. */
export type Sizes<Kind extends string> = Readonly<Record<Kind, number>>;
/** `history`: ended jobs, and as many ended workers. */
type YearSizes = Sizes<'history' | 'events' | 'entities'>;

const DAYS = sql`interval '365 days'`;

/** The numbers `n` of rows, with instants `t` that are spread evenly over the time before now. */
const spread = (count: number, over = DAYS): RawBuilder<unknown> =>
  // What ended later than its `t` has ended by now all the same: an instant ahead would be void.
  sql`(select n, now() - interval '6 minutes' - ${over} + n * (${over} / ${Math.max(1, count)}::float8) as t from ${numbers(1, count)}) spread`;

/** Fills the empty tables with a year of rows, and with those that always exist. */
export async function fillYear(db: Db, sizes: YearSizes): Promise<void> {
  const { history, events, entities } = sizes;
  await fillHistory(db, { ...sizes, cap: 100, warm: [{ scope: 'entity-1', workers: 2 }] });
  await withoutIndexes(
    db,
    ['installation_events', 'operations', 'repositories'],
    [
      someEvents(events, entities),
      someOperations(Math.ceil(history / 7)),
      someRepositories(Math.ceil(history / 100), entities),
    ],
  );
  for (const rows of [SOME_VERSIONS, SOME_COUNTS, SOME_USAGE, ...someTroubles(entities)])
    await rows.execute(db);
  await settle(db);
}

/** Fills the empty tables with pools, entities and a year of ended jobs and workers. */
export async function fillHistory(
  db: Db,
  {
    history,
    entities,
    cap,
    warm = [],
  }: Omit<YearSizes, 'events'> & {
    /** Of each entity. */
    readonly cap: number;
    readonly warm?: { scope: string; workers: number }[];
  },
): Promise<void> {
  const pools = POOLS.map((name) => ({
    name,
    labels: ['self-hosted', name],
    namespace: NAMESPACE,
    maxWorkers: 4_000,
    warm: name === POOLS[0] ? warm : [],
  }));
  await putPools(db, { pools, entities: { '*': { maxWorkers: cap } } });
  await sql`update instance set instance_id = 'abc123'`.execute(db);
  await someEntities(entities).execute(db);
  const ended = [endedJobs(history, entities), endedWorkers(history, entities)];
  await withoutIndexes(db, ['jobs', 'workers'], ended);
}

/** Inserts by the million go faster into tables without indexes and triggers. */
async function withoutIndexes(
  db: Db,
  tables: readonly (keyof Database)[],
  inserts: readonly RawBuilder<unknown>[],
): Promise<void> {
  const indexes = await rowsOf<{ name: string; definition: string }>(db)`
    select indexname as name, indexdef as definition from pg_indexes
    where schemaname = current_schema() and tablename = any(${tables}::text[]) and indexname not like '%_pkey'`;
  for (const { name } of indexes) await sql`drop index ${sql.table(name)}`.execute(db);
  for (const table of tables)
    await sql`alter table ${sql.table(table)} disable trigger user`.execute(db);
  for (const insert of inserts) await insert.execute(db);
  for (const table of tables)
    await sql`alter table ${sql.table(table)} enable trigger user`.execute(db);
  for (const { definition } of indexes) await sql.raw(definition).execute(db);
}

/** The work of autovacuum after such changes, at a moment that we choose. */
export async function settle(db: Db): Promise<void> {
  const tables = await rowsOf<{ name: string }>(db)`
    select tablename as name from pg_tables where schemaname = current_schema()`;
  for (const { name } of tables) await sql`vacuum (analyze) ${sql.table(name)}`.execute(db);
}

const someEntities = (
  entities: number,
) => sql`insert into installations (entity_id, app_id, installation_id, login, entity_type, stated_at, updated_at, listed_at)
    select n, ${APP}, n, 'entity-' || n, 'Organization', now() - interval '300 days', now() - interval '300 days', now() - n * (interval '12 hours' / ${entities}::float8)
    from ${numbers(1, entities)}`;

const endedJobs = (count: number, entities: number) => sql`
    insert into jobs (job_id, run_id, run_attempt, job_name, repo_id, repo_full_name, ${ENTITY_COLUMNS}, status, wants_worker, k8s_pod, runner_name, conclusion,
      queued_at, started_at, completed_at, created_at, updated_at, html_url, workflow_name, delivery_guid)
    select n, ${RUN}, 1, 'build (' || n % 7 || ')', ${RUN} % 5000 + 1, 'entity/repository-' || ${RUN} % 5000, ${entity(entities, RUN)},
      case when n % 9 = 0 then 'failed' else 'completed' end::status_enum, false, ${podName('ended')}, ${podName('ended')},
      case when n % 9 = 0 then 'failure' when n % 50000 = 1 then 'timed_out' else 'success' end,
      t, t + n % 90 * interval '1 second', t + interval '5 minutes', t, t + interval '5 minutes',
      'https://github.com/entity/repository/actions/runs/' || ${RUN} || '/job/' || n, case when ${RUN} % 8 = 0 then 'Nightly' else 'CI' end, gen_random_uuid()::text
    from ${spread(count)}`;

/**
 * One in twenty failed at a deadline, and GitHub keeps the registration of some of these. One in
 * fifty ended well without any word of its job.
 */
const endedWorkers = (count: number, entities: number) => sql`
    insert into workers (pod_name, made_for_job_id, namespace, ${ENTITY_COLUMNS}, status, stop_reason, stopping_at, assigned_at, assigned_job_id,
      unexplained_until, exit_code, k8s_node, pod_uid, pod_created_at, runner_id, registered_labels, registration_started_at, registered_at,
      registration_gone_at, secret_deleted_at, pod_deleted_at, running_at, completed_at, created_at, updated_at)
    select ${podName('ended')}, n, ${NAMESPACE}, ${entity(entities, RUN)}, case when n % 20 = 0 then 'failed' else 'completed' end::status_enum,
      case when n % 20 = 0 then (array['idle', 'pending_timeout', 'not_assigned', 'unwanted'])[n / 20 % 4 + 1] end,
      case when n % 20 = 0 then t + interval '4 minutes' end,
      case when n % 20 <> 0 and n % 50 <> 1 then t + interval '15 seconds' end, case when n % 20 <> 0 and n % 50 <> 1 then n end,
      case when n % 50 = 1 then t + interval '20 minutes' end, 0, 'node-' || n % 200, 'uid-' || n, t + interval '2 seconds', n, '["self-hosted"]',
      t, t, case when n % 2000 <> 0 then t + interval '5 minutes' end, t + interval '5 minutes',
      -- Pods stay readable for six hours.
      case when t < now() - interval '6 hours' then t + interval '6 hours' end, t + interval '10 seconds', t + interval '5 minutes', t, t + interval '6 minutes'
    from ${spread(count)}`;

const UNSERVED_JOB = sql`jsonb_build_object('labels', jsonb_build_array('other'), 'runner_name', 'other-' || n, 'conclusion', 'success',
  'created_at', t - interval '1 minute', 'started_at', t - interval '20 seconds')`;

/**
 * Half of them are of one entity. One in a thousand says that GitHub refused us, and one that an
 * installation changed.
 */
const someEvents = (count: number, entities: number) => sql`
    insert into installation_events (source, event, outcome, app_id, installation_id, entity_type, entity_id, entity_name, repo_id, job_id,
      delivery_guid, payload, received_at)
    select 'webhook', case n % 1000 when 0 then 'auth_attempt.other_error' when 1 then 'installation.created'
        else (array['workflow_job.queued', 'workflow_job.in_progress', 'workflow_job.completed'])[n % 3 + 1] end,
      case when n % 40 = 0 then 'ignored_no_label' else 'ok' end, ${APP}, ${eventEntity(entities)}, 'Organization', ${eventEntity(entities)},
      'entity-' || ${eventEntity(entities)}, n % 5000 + 1, n * 2 / 3, gen_random_uuid()::text,
      jsonb_build_object('action', 'queued', 'n', n, 'text', repeat(md5(n::text), 12), 'workflow_job', case when n % 40 = 0 then ${UNSERVED_JOB} end), t
    from ${spread(count)} order by n`;

/** Kept for a week. */
const someOperations = (count: number) => sql`
    insert into operations (id, kind, subject_type, subject_id, payload, origin, status, attempt, max_attempts, crashes, failures, queued_at, started_at,
      finished_at, expires_at)
    select gen_random_uuid(), (array['provision-worker', 'stop-worker', 'remove-secret', 'diagnose-pod'])[n % 4 + 1], 'worker', ${podName('ended')}, '{}',
      'AUTOMATIC', 'OK', 1, 5, 0, '[]', t, t, t, t + interval '7 days'
    from ${spread(count, sql`interval '8 days'`)}`;

const someRepositories = (count: number, entities: number) => sql`
    insert into repositories (repo_id, entity_id, app_id, full_name, active_at, noted_at, due_at, looked_at, etags)
    select n, n % ${entities}::integer + 1, ${APP}, 'entity/repository-' || n, now() - n % 168 * interval '1 hour', now() - interval '1 minute',
      now() + (n % 60 - 3) * interval '1 minute', now() - n % 60 * interval '1 minute', jsonb_build_object('queued', md5(n::text))
    from ${numbers(1, count)}`;

/** As many as are compared. */
const SOME_VERSIONS = sql`
    insert into pools_documents (digest, content) select digest || n, content from pools_documents, ${numbers(1, 100)}`;

const SOME_COUNTS = sql`
    insert into task_counts (hour, kind, outcome, ended)
    select date_trunc('hour', now(), 'UTC') - n * interval '1 hour', kind, 'OK', 100
    from ${numbers(0, 8_760)}, unnest(array['provision-worker', 'stop-worker', 'remove-secret', 'look-up-jobs', 'check-workers']) kind`;

/** As the sweep sums them up: with so many repositories, hardly two runs of an hour share a row. */
const SOME_USAGE = sql`
    insert into usage_hours (hour, entity_id, repo_id, repo_full_name, workflow_name, k8s_pool, queued, jobs, workers, pod_ms, idle_ms, thrown_away_ms)
    select date_trunc('hour', created_at), entity_id, repo_id, max(repo_full_name), workflow_name, k8s_pool, array_agg((job_id % 90)::integer order by job_id % 90), count(*), count(*),
      count(*) * 280000, count(*) * 20000, count(*) filter (where status = 'failed') * 280000
    from jobs group by 1, 2, 3, 5, 6 order by 1`;

/**
 * Recent failures: keys whose workers get no job, entities and repositories that refuse us, deliveries
 * that never arrived.
 */
const someTroubles = (entities: number) => [
  sql`
    update demand_keys set failures = 3, pauses = 1, failure_class = 'not_assigned', failure_message = 'idle',
      failing_since = now() - interval '2 hours', failed_at = now() - interval '1 hour', paused_until = now() + interval '1 minute'
    where entity_id <= ${Math.ceil(entities / 10)}`,
  refused('repositories', 'repo_id', 400),
  refused('installations', 'entity_id', entities / 10),
  sql`
    insert into unresolved_deliveries (app_id, guid, delivery_id, event, action, installation_id, repository_id, first_failed_at, last_failed_at,
      last_status_code, next_request_at, last_requested_at, resolved_at)
    select ${APP}, gen_random_uuid()::text, n, 'workflow_job', 'queued', n % ${entities}::integer + 1, n, now() - n % 4000 * interval '1 minute', now(), 502,
      now() + (n % 10 - 2) * interval '1 minute', now(), case when n % 3 = 0 then now() end
    from ${numbers(1, 400)}`,
];

const refused = (table: string, key: string, most: number) => sql`
  update ${sql.table(table)} set refused_since = now() - interval '1 day', refused_reason = 'installation_refused', refused_message = 'refused',
    refused_until = now() + ${sql.ref(key)} % 120 * interval '1 minute' - interval '1 hour'
  where ${sql.ref(key)} <= ${most}`;
