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

const SUMS = sql.join(
  ['jobs', 'workers', 'podMs', 'idleMs', 'thrownAwayMs'].map(
    (name) => sql`coalesce(sum(${sql.ref(name)}), 0)::bigint as ${sql.ref(name)}`,
  ),
);

/**
 * The groups of a span, the most time first, and the sums of all of them. Reads each hour's sums
 * twice: for all groups, and for the quantiles of those on the page. Pools are so few that once is
 * enough.
 */
export async function readUsage(
  db: Kysely<Database>,
  by: UsageBy,
  filter: UsageFilter,
  { limit, after }: { limit: number; after?: UsagePosition | undefined },
): Promise<{ rows: UsageRow[]; total: UsageSums }> {
  const [key, more] = KEYS[by];
  const used = sql`(
    select ${sql.raw(key)} as key, ${sql.raw(more)} as more, queued_seconds, jobs, workers, pod_ms as "podMs", idle_ms as "idleMs",
      thrown_away_ms as "thrownAwayMs"
    from usage_hours where ${isMeant(filter)}) used`;
  const cells =
    by === 'pool'
      ? sql`cells as materialized (select key, more, queued_seconds, ${SUMS} from ${used} group by 1, 2, 3),`
      : sql``;
  const source = by === 'pool' ? sql`cells` : used;
  const idType = sql.raw(by === 'pool' ? 'text' : 'bigint');
  const isAfter =
    after === undefined
      ? sql`true`
      : sql`(-"podMs", key, more) > (${-after[0]}::bigint, ${after[1]}::${idType}, ${after[2]})`;
  const { rows } = await sql<Row>`
    with ${cells} sums as materialized (select key, more, ${SUMS} from ${source} group by 1, 2),
    page as materialized (select * from sums where ${isAfter} order by "podMs" desc, key, more limit ${limit}),
    queued as (
      select key, more, queued_seconds, sum(u.jobs) as jobs from (select key, more, queued_seconds, jobs from ${source}) u join page using (key, more)
      where queued_seconds is not null group by 1, 2, 3
    ),
    ranked as (
      select key, more, queued_seconds, sum(jobs) over (partition by key, more order by queued_seconds) as upto, sum(jobs) over (partition by key, more) as of
      from queued
    ),
    quantiles as (
      select key, more, min(queued_seconds) filter (where upto >= 0.5 * of) as p50, min(queued_seconds) filter (where upto >= 0.95 * of) as p95
      from ranked group by 1, 2
    )
    select page.*, p50, p95, ${nameOf(by)}, to_jsonb(total) as total
    from (select ${SUMS} from sums) total left join page on true left join quantiles using (key, more)
    order by "podMs" desc, key, more`.execute(db);
  return {
    rows: rows.flatMap((row) => (row.key === null ? [] : [toUsageRow(by, row, row.key)])),
    total: rows[0]?.total ?? NOTHING,
  };
}

const NOTHING: UsageSums = { jobs: 0, workers: 0, podMs: 0, idleMs: 0, thrownAwayMs: 0 };

/** The names of a group, as they are now. */
function nameOf(by: UsageBy): RawBuilder<unknown> {
  const login = sql`(select login from installations where entity_id = page.key order by deleted_at desc nulls first, updated_at desc limit 1)`;
  const fullName = sql`(select repo_full_name from usage_hours n where n.repo_id = page.key order by hour desc limit 1)`;
  const nothing = sql`null::text`;
  const isOfJob = by === 'repository' || by === 'workflow';
  return sql`${by === 'entity' ? login : nothing} as login, ${isOfJob ? fullName : nothing} as "repoFullName"`;
}

/** When the sums were last made; null: never. */
export async function findUsageSummedAt(db: Kysely<Database>): Promise<Date | null> {
  const { rows } = await sql<{ at: Date }>`
    select summed_at as at from usage_summed order by hour desc limit 1`.execute(db);
  return rows[0]?.at ?? null;
}

interface Row extends UsageSums {
  /** Null: the page is empty. */
  readonly key: number | string | null;
  readonly more: string;
  readonly p50: number | null;
  readonly p95: number | null;
  readonly login: string | null;
  readonly repoFullName: string | null;
  readonly total: UsageSums;
}

function toUsageRow(by: UsageBy, row: Row, key: number | string): UsageRow {
  const isOfJob = by === 'repository' || by === 'workflow';
  return {
    jobs: row.jobs,
    workers: row.workers,
    podMs: row.podMs,
    idleMs: row.idleMs,
    thrownAwayMs: row.thrownAwayMs,
    login: row.login,
    repoFullName: row.repoFullName,
    entityId: by === 'entity' ? Number(key) : null,
    // 0: workers without a job.
    repoId: isOfJob && key !== 0 ? Number(key) : null,
    workflow: by === 'workflow' && row.more !== '' ? row.more : null,
    pool: by === 'pool' ? String(key) : null,
    queuedP50: row.p50,
    queuedP95: row.p95,
    position: [row.podMs, String(key), row.more],
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
