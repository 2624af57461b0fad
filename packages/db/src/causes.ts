import { UNSERVED_ENTITIES, UNSERVED_POOLS } from '@paddock/domain/why/diagnose-fleet';
import { sql } from 'kysely';
import { IS_REFUSED } from './entities/refusals.ts';
import { IS_CONFIGURED } from './instance.ts';
import { ago } from './milliseconds.ts';
import { POOLS_IN_FORCE } from './pools/pools-documents.ts';
import { rowOf, rowsOf } from './rows.ts';
import type { Db } from './schema/tables.ts';
import { LIVE } from './states/states.ts';

/** SQL: services without a sign of life, and since when. */
export const SILENT_SERVICES = sql`
  (select service, coalesce(seen_at, created_at) as since
    from instance cross join lateral (values ('ingress', ingress_seen_at), ('scheduler', scheduler_seen_at), ('reconciler', reconciler_seen_at)) lives (service, seen_at)
    where coalesce(seen_at, created_at) < now() - interval '1 minute') silent`;

/** The longest that an upgrade takes. */
const UPGRADE_MS = 900_000;

/**
 * SQL: versions of services that live side by side, or that are older than the schema, for longer than
 * an upgrade takes: all of them, and since when.
 */
export const VERSIONS_APART = sql`
  (select string_agg(key, ', ' order by key) as message, to_timestamp(max(since)) as since from (
      select key, split_part(key, ' ', 2) as version, (value ->> 'schema')::integer as built_for, (value ->> 'since')::float8 as since
      from instance, jsonb_each(versions) where (value ->> 'last')::float8 > extract(epoch from now()) - 60
    ) lives, (select left(name, 4)::integer as newest, "timestamp"::timestamptz as migrated_at from schema_migration order by name desc limit 1) migrated
    having count(distinct version) > 1 and to_timestamp(max(since)) < ${ago(UPGRADE_MS)}
      or min(built_for) < min(newest) and min(migrated_at) < ${ago(UPGRADE_MS)}) apart`;

/** SQL: why living services refuse a changed file, and go on with what they read before. */
export const REFUSED_CHANGES = sql`
  (select string_agg(split_part(key, ' ', 1), ', ' order by key) as services, value ->> 'refused' as message
    from instance, jsonb_each(versions) where (value ->> 'last')::float8 > extract(epoch from now()) - 60 and value ->> 'refused' is not null group by 2) refusing`;

/** SQL: pools whose runners have a version that GitHub no longer serves. */
export const ENDED_VERSIONS = sql`
  (select v.k8s_pool, v.ends_at, v.version from ${POOLS_IN_FORCE} join pool_runner_versions v on v.k8s_pool = p ->> 'name' where ends_at < now()) ended`;

/** SQL: what GitHub refuses: installations, Apps and repositories, by their names. */
export const REFUSALS = sql`
  (select entity_id, login as name, refused_reason, refused_since, refused_until, refused_message from installations where ${IS_REFUSED} and deleted_at is null
    union all select null, 'the App ' || app_id, refused_reason, refused_since, refused_until, refused_message from apps where ${IS_REFUSED}
    union all select entity_id, coalesce(full_name, repo_id::text), refused_reason, refused_since, refused_until, refused_message from repositories where ${IS_REFUSED}
  ) refused`;

/** SQL: runner groups that let in too much, of pools in force and of entities that have an App. */
export const OPEN_GROUPS = sql`
  (select * from runner_groups g where paused_until is not null and k8s_pool in (select p ->> 'name' from ${POOLS_IN_FORCE})
    and not exists (
      select from installations i where i.entity_id = g.entity_id having bool_and(deleted_at is not null or not ${IS_CONFIGURED}))) g`;

/** SQL: the output of the newest pass of a sweep that said this of it. */
const newestOutput = (sweep: string, key: string) => sql`
  (select output -> ${key}::text as said from operations
    where kind = ${sweep} and status = 'OK' and subject_id = ${sweep} and output ? ${key} order by finished_at desc limit 1) newest`;

/** SQL: what the Apps lack, as the newest check has it. */
export const APP_PROBLEMS = sql`${newestOutput('check-apps', 'problems')}, jsonb_array_elements_text(said) problem`;

/** How many things each App lacks, by its id; empty once the newest check has expired. */
export async function findProblemsOfApps(db: Db): Promise<Record<string, number>> {
  const newest = await rowOf<{ said: Record<string, number> }>(db)`
    select said from ${newestOutput('check-apps', 'problemsOfApps')}`;
  return newest?.said ?? {};
}

/** SQL: what the newest pass of notifications did. */
export const NOTIFICATIONS = newestOutput('recover-tasks', 'notifications');

/** Something that keeps work from being done until a person acts. */
export interface Cause {
  /** A reason to wait, or a word such as `service_silent`. */
  readonly name: string;
  /** What it is about: a pool, a login, a service, an App’s problem, … */
  readonly subject: string;
  readonly since: Date | null;
  readonly message: string | null;
  /** It has stood long enough that people should be told. */
  readonly isLasting: boolean;
}

/** What lasts shorter ends by itself, or flaps. */
const LASTING_MS = 300_000;

/** What a person must act on, one row for each thing that it is about, the oldest first. */
export const findCauses = (db: Db) => rowsOf<Cause>(db)`
  select name, subject, min(since) as since, min(message) as message, coalesce(min(since) < ${ago(LASTING_MS)}, true) as "isLasting" from (
    select 'service_silent' as name, service as subject, since, null as message from ${SILENT_SERVICES}
    union all select 'cluster_unavailable', service, since, message from outages where service = 'cluster'
    union all select refused_reason, name, refused_since, refused_message from ${REFUSALS}
    union all select 'app_unfit', problem, null, problem from ${APP_PROBLEMS}
    union all select 'workers_failing', k8s_pool, failing_since, failure_message from demand_keys where pauses > 0 and failures > 0
    union all select 'runner_outdated', k8s_pool, ends_at, version from ${ENDED_VERSIONS}
    union all select 'versions_apart', 'services', since, message from ${VERSIONS_APART}
    union all select 'change_refused', services, null, message from ${REFUSED_CHANGES}
    union all select 'runner_group_open', k8s_pool, read_at, excess from ${OPEN_GROUPS}
    union all select 'workers_held', k8s_pool, stop_held_since, pod_name || ': ' || stop_held_by from workers where ${LIVE} and stop_held_since is not null
    union all select wait_reason, k8s_pool, wait_since, null from demand_keys where waiting > 0 and wait_reason = any(${UNSERVED_POOLS}::text[])
    union all select wait_reason, entity_name, wait_since, null from demand_keys where waiting > 0 and wait_reason = any(${UNSERVED_ENTITIES}::text[])
  ) causes where name is not null and subject is not null group by name, subject order by since nulls last, name, subject`;
