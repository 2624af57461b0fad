import { sql } from 'kysely';
import { type EntityToAsk, entityToday, installationToday } from '../entities/whom-to-ask.ts';
import { NOW } from '../milliseconds.ts';
import { rowsOf } from '../rows.ts';
import type { Db } from '../schema/tables.ts';
import { POOLS_IN_FORCE } from '../pools/pools-documents.ts';
import { changeWorker } from './workers.ts';
import { OUTDATED_RUNNER } from '@paddock/domain/workers/stop-reasons';

/** A pool's newest runner, if its version or that version's end was not read for a day. */
export interface RunnerToRead extends EntityToAsk {
  pool: string;
  podName: string;
  namespace: string;
  scopeRepoId: number;
  /** As known until now; null: unknown. */
  version: string | null;
  /** Its log has not been read. */
  isUnread: boolean;
  /** GitHub was last asked more than a day ago, or never. */
  isUnasked: boolean;
}

/**
 * For each pool in force, its newest started runner, if there is anything to find out; if none has
 * a pod, the runner that was read last.
 */
export const findRunnersToRead = (db: Db, appIds: readonly number[]) => rowsOf<RunnerToRead>(db)`
    with pools as (
      select p ->> 'name' as name
      from ${POOLS_IN_FORCE}
    )
    select p.name as pool, w.pod_name as "podName", w.namespace, ${entityToday('w')}, w.scope_repo_id as "scopeRepoId", v.version, v.pod_name is distinct from w.pod_name as "isUnread",
      v.asked_at is null or v.asked_at < now() - interval '1 day' as "isUnasked"
    from pools p left join pool_runner_versions v on v.k8s_pool = p.name
    join workers w on w.pod_name = coalesce((
      select pod_name from workers where k8s_pool = p.name and running_at is not null and pod_deleted_at is null
      order by running_at desc limit 1), v.pod_name)
    ${installationToday('w', appIds)}
    where v.pod_name is distinct from w.pod_name or v.asked_at is null or v.asked_at < now() - interval '1 day'
    order by p.name`;

/** SQL: what is stored about the version, if it is the same. */
const ifSame = (column: string) =>
  sql<Date>`case when pool_runner_versions.version = excluded.version then ${sql.ref(`pool_runner_versions.${column}`)} end`;

/** Stores the version of a pool's runner; forgets the end of another version. */
export async function saveRunnerVersion(
  db: Db,
  { pool, podName, version }: { pool: string; podName: string; version: string },
): Promise<void> {
  const read = { version, pod_name: podName };
  await db
    .insertInto('pool_runner_versions')
    .values({ k8s_pool: pool, ...read })
    .onConflict((conflict) =>
      conflict
        .column('k8s_pool')
        .doUpdateSet({ ...read, ends_at: ifSame('ends_at'), asked_at: ifSame('asked_at') }),
    )
    .execute();
}

/**
 * Stores when GitHub ends the version of the pool's runners; null: no end is known. Returns the
 * days that are left, negative after the end.
 */
export async function saveVersionEnd(
  db: Db,
  { pool, version, endsAt }: { pool: string; version: string; endsAt: Date | null },
): Promise<number | null> {
  const row = await db
    .updateTable('pool_runner_versions')
    .set({ ends_at: endsAt, asked_at: NOW })
    .where('k8s_pool', '=', pool)
    .where('version', '=', version)
    .returning(DAYS_LEFT.as('daysLeft'))
    .executeTakeFirst();
  return row?.daysLeft ?? null;
}

const DAYS_LEFT = sql.raw<number | null>('(extract(epoch from ends_at - now()) / 86400)::float8');

/** A pool in force whose runners have a version with an end. */
export interface EndingVersion {
  pool: string;
  version: string;
  /** Less than 0 after the end. */
  daysLeft: number;
}

export const findEndingVersions = (db: Db) => rowsOf<EndingVersion>(db)`
    select v.k8s_pool as pool, v.version, ${DAYS_LEFT} as "daysLeft"
    from ${POOLS_IN_FORCE}
    join pool_runner_versions v on v.k8s_pool = p ->> 'name'
    where v.ends_at is not null
    order by v.k8s_pool`;

/** The pod of a worker that has ended without a known job. */
export interface EndWithoutJob {
  podName: string;
  namespace: string;
  hasEndedWell: boolean;
}

const HAS_ENDED_WITHOUT_JOB = sql<boolean>`completed_at is not null and pod_uid is not null and assigned_at is null and stopping_at is null
  and stop_reason is distinct from ${OUTDATED_RUNNER}`;

/** The worker, if it ended by itself without a job, and is not known to be outdated. */
export async function findEndWithoutJob(
  db: Db,
  podName: string,
): Promise<EndWithoutJob | undefined> {
  return db
    .selectFrom('workers')
    .select([
      'pod_name as podName',
      'namespace',
      sql<boolean>`status = 'completed'`.as('hasEndedWell'),
    ])
    .where('pod_name', '=', podName)
    .where(HAS_ENDED_WITHOUT_JOB)
    .executeTakeFirst();
}

/**
 * Notes that GitHub refused the version of the worker's runner, which may have ended with 0 all the
 * same: the worker failed, and its end counts against no waiting job. False: it has a known job by
 * now, or this was noted before.
 */
export const markOutdatedRunner = (db: Db, podName: string, message: string): Promise<boolean> =>
  changeWorker(
    db,
    podName,
    {
      status: 'failed',
      stop_reason: OUTDATED_RUNNER,
      unexplained_until: null,
      failure_info: sql`coalesce(failure_info, jsonb_build_object('version', 1, 'message', ${message}::text))`,
    },
    HAS_ENDED_WITHOUT_JOB,
  );
