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

/**
 * The two columns that a group has in common; a literal: it needs one only. Names are sorted by
 * their bytes, which is faster.
 */
const KEYS: Readonly<Record<UsageBy, readonly [string, string]>> = {
  repository: ['repo_id', "''"],
  workflow: ['repo_id', 'workflow_name collate "C"'],
  pool: ['k8s_pool collate "C"', "''"],
  entity: ['entity_id', "''"],
};

const SUMS = sql.join(
  ['jobs', 'workers', 'podMs', 'idleMs', 'thrownAwayMs'].map(
    (name) => sql`coalesce(sum(${sql.ref(name)}), 0)::bigint as ${sql.ref(name)}`,
  ),
);

/**
 * The groups of a span, the most time first, and the sums of all of them. Reads the span once, and
 * the waiting times of the groups on the page only. It counts how often each time occurs, because to
 * sort them all is slower where few groups have all jobs of the span.
 */
export async function readUsage(
  db: Kysely<Database>,
  by: UsageBy,
  filter: UsageFilter,
  { limit, after }: { limit: number; after?: UsagePosition | undefined },
): Promise<{ rows: UsageRow[]; total: UsageSums }> {
  const [key, more] = KEYS[by];
  const idType = sql.raw(by === 'pool' ? 'text' : 'bigint');
  const isAfter =
    after === undefined
      ? sql`true`
      : sql`(-"podMs", key, more) > (${-after[0]}::bigint, ${after[1]}::${idType}, ${after[2]})`;
  const { rows } = await sql<Row>`
    with used as materialized (
      select ${sql.raw(key)} as key, ${sql.raw(more)} as more, jobs, workers, pod_ms as "podMs", idle_ms as "idleMs", thrown_away_ms as "thrownAwayMs",
        ${QUEUED} as queued
      from usage_hours where ${isMeant(filter)}
    ),
    sums as materialized (select key, more, ${SUMS} from used group by 1, 2),
    page as materialized (select * from sums where ${isAfter} order by "podMs" desc, key, more limit ${limit}),
    waited as (
      select key, more, seconds, count(*) as jobs
      from (select key, more, unnest(queued) as seconds from used where ${isOnPage}) each group by 1, 2, 3
    ),
    ranked as (
      select key, more, seconds, sum(jobs) over (partition by key, more order by seconds) as upto, sum(jobs) over (partition by key, more) as jobs
      from waited
    ),
    quantiles as materialized (
      select key, more, min(seconds) filter (where upto >= 0.5 * jobs) as p50, min(seconds) filter (where upto >= 0.95 * jobs) as p95
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

/** Rows of the version before have one waiting time for all their jobs. */
const QUEUED = sql`case when queued_seconds is null then queued else array_fill(queued_seconds, array[jobs]) end`;

/**
 * Looks each row up among the groups of the page. PostgreSQL underestimates how many rows a span
 * has: of a join it would make a loop that reads the span for each group.
 */
const isOnPage = sql`((key, more) in (select key, more from page)) is true`;

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
