import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';
import { allOf, has } from './newest-first.ts';

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
 * What the rows of a group have in common. Names are sorted by their bytes, which is faster. 0 stands
 * for workers without a job.
 */
const KEYS: Readonly<Record<UsageBy, { readonly key: string; readonly more?: string }>> = {
  repository: { key: 'repo_id' },
  workflow: { key: 'repo_id', more: 'workflow_name collate "C"' },
  pool: { key: 'k8s_pool collate "C"' },
  entity: { key: 'entity_id' },
};

/** Each sum, and the column that an hour has of it. */
const SUMMED = {
  jobs: 'jobs',
  workers: 'workers',
  podMs: 'pod_ms',
  idleMs: 'idle_ms',
  thrownAwayMs: 'thrown_away_ms',
};
const sums = ([name, column]: readonly [string, string]) =>
  sql`coalesce(sum(${sql.ref(column)}), 0)::bigint as ${sql.ref(name)}`;
const SUMS_OF_HOURS = sql.join(Object.entries(SUMMED).map(sums));
const SUMS_OF_ALL = sql.join(Object.keys(SUMMED).map((name) => sums([name, name])));

/**
 * The groups of a span, the most time first, and the sums of all of them. Reads the waiting times of
 * the groups on the page only, and counts how often each occurs: to sort them all is slower. To read
 * the span twice is faster than to keep its rows.
 */
export async function readUsage(
  db: Kysely<Database>,
  by: UsageBy,
  filter: UsageFilter,
  { limit, after }: { limit: number; after?: UsagePosition | undefined },
): Promise<{ rows: UsageRow[]; total: UsageSums }> {
  const { key, more = "''" } = KEYS[by];
  const group = sql.raw(`${key} as key, ${more} as more`);
  const hours = sql`usage_hours where ${isMeant(filter)}`;
  const isBehind =
    after === undefined
      ? sql`true`
      : sql`(-"podMs", key, more) > (${-after[0]}::bigint, ${after[1]}::${sql.raw(by === 'pool' ? 'text' : 'bigint')}, ${after[2]})`;
  const { rows } = await sql<Row>`
    with sums as materialized (
      select ${group}, ${SUMS_OF_HOURS} from ${hours} group by 1, 2
    ),
    page as materialized (
      select * from sums where ${isBehind} order by "podMs" desc, key, more limit ${limit}
    ),
    -- Each row is looked up among the groups of the page: of a join PostgreSQL would make a loop that
    -- reads the span for each group.
    waits as (
      select key, more, seconds, count(*) as jobs
      from (select ${group}, unnest(queued) as seconds from ${hours} and ((${sql.raw(`${key}, ${more}`)}) in (select key, more from page)) is true) each
      group by 1, 2, 3
    ),
    ranked as (
      select *, sum(jobs) over (partition by key, more order by seconds) as upto, sum(jobs) over (partition by key, more) as of from waits
    ),
    quantiles as materialized (
      select key, more, min(seconds) filter (where upto >= 0.5 * of) as p50, min(seconds) filter (where upto >= 0.95 * of) as p95
      from ranked group by 1, 2
    )
    select page.*, p50, p95, ${nameOf(by)}, to_jsonb(total) as total
    from (select ${SUMS_OF_ALL} from sums) total left join page on true left join quantiles using (key, more)
    order by page."podMs" desc, key, more`.execute(db);
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
    select summed_at as at from usage_hours order by hour desc limit 1`.execute(db);
  return rows[0]?.at ?? null;
}

interface Row extends UsageSums {
  /** Null: the page is empty. */
  readonly key: number | string | null;
  /** Of workflows. */
  readonly more: string;
  readonly p50: number | null;
  readonly p95: number | null;
  readonly login: string | null;
  readonly repoFullName: string | null;
  readonly total: UsageSums;
}

function toUsageRow(by: UsageBy, row: Row, key: number | string): UsageRow {
  const { more, p50, p95, total: _total, ...rest } = row;
  const isOfJob = by === 'repository' || by === 'workflow';
  return {
    ...rest,
    entityId: by === 'entity' ? Number(key) : null,
    repoId: isOfJob && key !== 0 ? Number(key) : null,
    workflow: more === '' ? null : more,
    pool: by === 'pool' ? String(key) : null,
    queuedP50: p50,
    queuedP95: p95,
    position: [row.podMs, String(key), more],
  };
}

const isMeant = ({ from, to, entityId, repoId, pool }: UsageFilter): RawBuilder<unknown> =>
  allOf(
    sql`hour >= ${from} and hour < ${to}`,
    // Other rows only count what has not ended.
    sql`(jobs > 0 or workers > 0)`,
    has('entity_id', entityId),
    has('repo_id', repoId),
    has('k8s_pool', pool),
  );
