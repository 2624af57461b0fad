import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';

/** What the sums are by. */
export type UsageBy = 'repository' | 'workflow' | 'pool' | 'entity';

export interface UsageFilter {
  /** The beginning of an hour. */
  readonly from: Date;
  /** The first instant behind: the beginning of an hour. */
  readonly to: Date;
  readonly entityId?: number | undefined;
  readonly repoId?: number | undefined;
  readonly pool?: string | undefined;
}

/** Sums. Times are of pods that ended, in milliseconds. */
export interface UsageSums {
  /** Jobs that ended. */
  readonly jobs: number;
  /** Workers that ended. */
  readonly workers: number;
  /** From the start of each pod to its end. */
  readonly podMs: number;
  /** Of workers that did not fail, when no job ran. */
  readonly idleMs: number;
  /** Of workers that failed. */
  readonly thrownAwayMs: number;
}

/** The sums of one group; what it is not by is null. */
export interface UsageRow extends UsageSums {
  readonly entityId: number | null;
  readonly login: string | null;
  readonly repoId: number | null;
  readonly repoFullName: string | null;
  readonly workflow: string | null;
  readonly pool: string | null;
  /** Of the jobs that started, in seconds, two digits. */
  readonly queuedP50: number | null;
  readonly queuedP95: number | null;
  readonly position: UsagePosition;
}

/** A place in the list: the pods' time, and the keys of the group. */
export type UsagePosition = readonly [podMs: number, key: string, more: string];

/** The two columns that a group has in common; a literal: it needs one only. */
const KEYS: Readonly<Record<UsageBy, readonly [string, string]>> = {
  repository: ['repo_id', "''"],
  workflow: ['repo_id', 'workflow_name'],
  pool: ['k8s_pool', "''"],
  entity: ['entity_id', "''"],
};

const SUMS = sql`sum(jobs)::bigint as jobs, sum(workers)::bigint as workers, sum(pod_ms)::bigint as "podMs", sum(idle_ms)::bigint as "idleMs",
  sum(thrown_away_ms)::bigint as "thrownAwayMs"`;

/** The groups of a span, the most time first. A rolled-up hour is read, and no job or worker. */
export async function readUsage(
  db: Kysely<Database>,
  by: UsageBy,
  filter: UsageFilter,
  { limit, after }: { limit: number; after?: UsagePosition | undefined },
): Promise<UsageRow[]> {
  const [key, more] = KEYS[by].map((column) => sql.raw(column)) as [
    RawBuilder<unknown>,
    RawBuilder<unknown>,
  ];
  const isText = by === 'pool';
  const idType = sql.raw(isText ? 'text' : 'bigint');
  const isAfter =
    after === undefined
      ? sql`true`
      : sql`(-"podMs", key, more) > (${-after[0]}::bigint, ${after[1]}::${idType}, ${after[2]})`;
  const { rows } = await sql<Row>`
    with page as materialized (
      select * from (select ${key} as key, ${more}::text as more, ${SUMS} from usage_hours where ${isMeant(filter)} group by 1, 2) sums
      where ${isAfter} order by "podMs" desc, key, more limit ${limit}
    ),
    queued as (
      select key, more, queued_seconds, sum(u.jobs) as jobs
      from usage_hours u join page on page.key = u.${key} and page.more = ${by === 'workflow' ? sql`u.workflow_name` : sql`''`}
      where ${isMeant(filter)} and queued_seconds is not null group by 1, 2, 3
    ),
    ranked as (
      select key, more, queued_seconds, sum(jobs) over (partition by key, more order by queued_seconds) as upto, sum(jobs) over (partition by key, more) as of
      from queued
    ),
    quantiles as (
      select key, more, min(queued_seconds) filter (where upto >= 0.5 * of) as p50, min(queued_seconds) filter (where upto >= 0.95 * of) as p95
      from ranked group by 1, 2
    )
    select page.*, p50, p95,
      ${by === 'entity' ? sql`(select login from installations where entity_id = page.key order by deleted_at desc nulls first, updated_at desc limit 1)` : sql`null::text`} as login,
      ${by === 'repository' || by === 'workflow' ? sql`(select repo_full_name from usage_hours n where n.repo_id = page.key order by hour desc limit 1)` : sql`null::text`} as "repoFullName"
    from page left join quantiles using (key, more)
    order by "podMs" desc, key, more`.execute(db);
  return rows.map((row) => toUsageRow(by, row));
}

/** The sums of all groups. */
export async function readUsageTotal(
  db: Kysely<Database>,
  filter: UsageFilter,
): Promise<UsageSums> {
  const { rows } = await sql<UsageSums>`
    select coalesce(sum(jobs), 0)::bigint as jobs, coalesce(sum(workers), 0)::bigint as workers, coalesce(sum(pod_ms), 0)::bigint as "podMs",
      coalesce(sum(idle_ms), 0)::bigint as "idleMs", coalesce(sum(thrown_away_ms), 0)::bigint as "thrownAwayMs"
    from usage_hours where ${isMeant(filter)}`.execute(db);
  return rows[0] ?? { jobs: 0, workers: 0, podMs: 0, idleMs: 0, thrownAwayMs: 0 };
}

/** When the sums were last made; null: never. */
export async function findUsageSummedAt(db: Kysely<Database>): Promise<Date | null> {
  const { rows } = await sql<{ at: Date }>`
    select summed_at as at from usage_summed order by hour desc limit 1`.execute(db);
  return rows[0]?.at ?? null;
}

interface Row extends UsageSums {
  readonly key: number | string;
  readonly more: string;
  readonly p50: number | null;
  readonly p95: number | null;
  readonly login: string | null;
  readonly repoFullName: string | null;
}

function toUsageRow(by: UsageBy, { key, more, p50, p95, ...row }: Row): UsageRow {
  const isOfJob = by === 'repository' || by === 'workflow';
  return {
    ...row,
    entityId: by === 'entity' ? Number(key) : null,
    // Of workers without a job.
    repoId: isOfJob && key !== 0 ? Number(key) : null,
    workflow: by === 'workflow' && more !== '' ? more : null,
    pool: by === 'pool' ? String(key) : null,
    queuedP50: p50,
    queuedP95: p95,
    position: [row.podMs, String(key), more],
  };
}

function isMeant({ from, to, entityId, repoId, pool }: UsageFilter): RawBuilder<unknown> {
  return sql.join(
    [
      sql`hour >= ${from} and hour < ${to}`,
      ...(entityId === undefined ? [] : [sql`entity_id = ${entityId}`]),
      ...(repoId === undefined ? [] : [sql`repo_id = ${repoId}`]),
      ...(pool === undefined ? [] : [sql`k8s_pool = ${pool}`]),
    ],
    sql` and `,
  );
}
