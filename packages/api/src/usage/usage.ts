import { allOf, has } from '@paddock/db/newest-first';
import { rowsOf } from '@paddock/db/rows';
import type { Db } from '@paddock/db/schema/tables';
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { dates, instant } from '../lists/dates.ts';
import { entity, entityIdOf, pool, repoIdOf, repository } from '../lists/named.ts';
import { pageInput, pageOf, type Placed, toPage } from '../lists/page.ts';
import { wrong } from '../problem.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;
/** A longer span would read more rows than an answer has time for. */
const LONGEST_DAYS = 31;
const USUAL_DAYS = 7;
/** A week of hours is one page. */
const MOST_ROWS = 200;

const BY = ['repository', 'workflow', 'pool', 'entity', 'hour', 'day'] as const;

/** What a list is sorted by, and its sum. Hours and days come the newest first. */
const SORTS = {
  minutes: 'podMs',
  jobs: 'jobs',
  workers: 'workers',
  idle: 'idleMs',
  thrownAway: 'thrownAwayMs',
} as const;

/** A place in the list: what it is sorted by, the key of the group, and a hash of the rest. */
const usagePosition = z.tuple([z.int(), z.string().max(300), z.string().max(20)]);

type UsagePosition = z.output<typeof usagePosition>;

const usageInput = z.object({
  by: z.enum(BY).default('repository').describe('What the sums are of'),
  sort: z
    .enum(Object.keys(SORTS) as [keyof typeof SORTS])
    .default('minutes')
    .describe('The most of it first; hours and days come the newest first'),
  entity,
  repository,
  pool,
  from: dates.from.describe(`${dates.from.description}; 7 days before the end without it`),
  to: dates.to,
  ...pageInput(usagePosition, MOST_ROWS),
});

type UsageInput = z.output<typeof usageInput>;

/** Sums of differences between clocks: no bound of theirs may refuse an answer. */
const minutes = z.number();
const share = z.number().nullable().describe('Of the runner minutes; null: there are none');

const sums = {
  jobs: z.int().describe('That have ended'),
  started: z.int().describe('Those of them that had started'),
  workers: z.int().describe('That have ended'),
  runnerMinutes: minutes.describe('From the start of each pod to its end'),
  idleMinutes: minutes.describe('Of it, when no job ran'),
  thrownAwayMinutes: minutes.describe('Of it, that of workers which failed'),
  idleShare: share,
  thrownAwayShare: share,
};

/** Of a longer span, the one before would be read for nobody. */
const LONGEST_COMPARED_MS = 8 * DAY_MS;

const weekBefore = z
  .object({ jobs: z.int(), workers: z.int(), runnerMinutes: minutes })
  .nullable()
  .describe(
    'The same in the seven days before, for a span of at most 8 days; null: it is longer, or the sums are by hour or day',
  );

const usageRow = z.object({
  entity: z.object({ id: z.int(), login: z.string().nullable() }).nullable(),
  repository: z
    .object({ id: z.int(), fullName: z.string().nullable() })
    .nullable()
    .describe('Null, in sums by repository or workflow: workers without a job'),
  workflow: z.string().nullable(),
  pool: z.string().nullable(),
  at: instant.nullable().describe('Of sums by hour or day, when it began'),
  ...sums,
  before: weekBefore,
  queuedSeconds: z
    .object({ p50: z.int(), p95: z.int() })
    .nullable()
    .describe('Until they started, rounded to two digits; null: no job has started'),
});

const usageSpan = {
  from: instant.describe('The beginning of an hour'),
  to: instant.describe('The end of an hour'),
  summedAt: instant
    .nullable()
    .describe('When the sums were last made; null: the sweep `upkeep` has summed up nothing'),
  total: z.object({ ...sums, before: weekBefore }).describe('Of all rows'),
};

type UsageRow = z.output<typeof usageRow>;

export const listUsageEndpoint = endpoint({
  name: 'listUsage',
  path: '/api/v1/usage',
  summary:
    'Sums up the jobs, runner minutes and queue times of a span, by repository, workflow, pool or entity, beside the week before, or by hour or day.',
  input: usageInput,
  output: pageOf(usageRow).extend(usageSpan),
  async answer(caller, input) {
    const filter: UsageFilter = {
      ...spanOf(input),
      entityId: await entityIdOf(caller, input.entity),
      repoId: await repoIdOf(caller, input.repository),
      pool: input.pool,
    };
    const { rows, ...sum } = await readUsage(caller.db, filter, input);
    const { from, to } = filter;
    return { ...toPage(rows, input.limit), from, to, ...sum };
  },
});

/** Whole hours: the sums have no smaller ones. */
function spanOf({ from, to = new Date() }: Pick<UsageInput, 'from' | 'to'>): {
  from: Date;
  to: Date;
} {
  const end = new Date(Math.ceil(to.getTime() / HOUR_MS) * HOUR_MS);
  const begin = from?.getTime() ?? end.getTime() - USUAL_DAYS * DAY_MS;
  const start = new Date(Math.floor(begin / HOUR_MS) * HOUR_MS);
  // An hour more: a span of days ago begins within one.
  if (end.getTime() - start.getTime() > LONGEST_DAYS * DAY_MS + HOUR_MS)
    throw wrong(`Ask for at most ${LONGEST_DAYS} days at a time: move \`from\` or \`to\`.`);
  return { from: start, to: end };
}

interface UsageFilter {
  /** The beginning of an hour. */
  readonly from: Date;
  /** The first instant behind: the beginning of an hour. */
  readonly to: Date;
  readonly entityId?: number | undefined;
  readonly repoId?: number | undefined;
  readonly pool?: string | undefined;
}

type UsageBy = (typeof BY)[number];

/** Names are sorted by their bytes, which is faster. 0 stands for workers without a job. */
const KEYS: Readonly<
  Record<UsageBy, { readonly key: string; readonly type: string; readonly more?: string }>
> = {
  repository: { key: 'repo_id', type: 'bigint' },
  workflow: { key: 'repo_id', type: 'bigint', more: 'workflow_name collate "C"' },
  pool: { key: 'k8s_pool collate "C"', type: 'text' },
  entity: { key: 'entity_id', type: 'bigint' },
  hour: { key: 'hour', type: 'timestamptz' },
  day: { key: "date_bin('1 day', hour, '2000-01-01Z')", type: 'timestamptz' },
};

/** SQL: the name of a workflow, which may have any length. */
const HASH = sql`hashtextextended(more, 0)::text collate "C"`;

const SUMMED = {
  jobs: 'jobs',
  started: 'cardinality(queued)',
  workers: 'workers',
  podMs: 'pod_ms',
  idleMs: 'idle_ms',
  thrownAwayMs: 'thrown_away_ms',
};
const summed = ([name, column]: readonly [string, string]) =>
  sql`coalesce(sum(${sql.raw(column)}), 0)::bigint as ${sql.ref(name)}`;
const SUMS_OF_HOURS = sql.join(Object.entries(SUMMED).map(summed));
const SUMS_OF_ALL = sql.join(Object.keys(SUMMED).map((name) => summed([name, `"${name}"`])));

/**
 * The groups of a span in their order, and the sums of all of them. Reads the waiting times of
 * the groups on the page only, and counts how often each occurs: to sort them all is slower. To read
 * the span twice is faster than to keep its rows.
 */
async function readUsage(
  db: Db,
  filter: UsageFilter,
  { by, sort, limit: most, after: last }: Pick<UsageInput, 'by' | 'sort' | 'limit' | 'after'>,
) {
  const { key, type, more } = KEYS[by];
  const isTime = type === 'timestamptz';
  const place = isTime ? sql`extract(epoch from key)::bigint` : sql.ref(SORTS[sort]);
  const isCompared = !isTime && filter.to.getTime() - filter.from.getTime() <= LONGEST_COMPARED_MS;
  const former = {
    ...filter,
    from: new Date(filter.from.getTime() - WEEK_MS),
    to: new Date(filter.to.getTime() - WEEK_MS),
  };
  const group = sql.raw(`${key} as key, ${more ?? "''"} as more`);
  // A column fewer to group by costs a fifth less.
  const [other, byGroup] = more === undefined ? [sql`''`, sql`1`] : [sql`more`, sql`1, 2`];
  const hours = sql`usage_hours where ${isMeant(filter)}`;
  // Nearly all pools, days and hours are on the page.
  const isOnPage =
    type === 'bigint'
      ? sql`((${sql.raw(`${key}, ${more ?? "''"}`)}) in (select key, more from page)) is true`
      : sql`true`;
  const isBehind =
    last === undefined
      ? sql`true`
      : sql`(-${place}, key, ${HASH}) > (${-last[0]}::bigint, ${last[1]}::${sql.raw(type)}, ${last[2]})`;
  const rows = await rowsOf<Row>(db)`
    with sums as materialized (
      select ${group}, ${SUMS_OF_HOURS} from ${hours} group by ${byGroup}
    ),
    page as materialized (
      select *, ${place} as place, ${HASH} as hash from sums where ${isBehind} order by ${place} desc, key, ${HASH} limit ${most}
    ),
    -- Each row is looked up among the groups of the page: of a join PostgreSQL would make a loop that
    -- reads the span for each group.
    waits as (
      select key, ${other} as more, seconds, count(*) as jobs
      from (
        -- Else the key would be worked out for each time again.
        select key, more, unnest(queued) as seconds from (
          select ${group}, queued from ${hours} and ${isOnPage} offset 0
        ) row
      ) each
      group by ${byGroup}, seconds
    ),
    ranked as (
      select *, sum(jobs) over (partition by key, more order by seconds) as upto, sum(jobs) over (partition by key, more) as of from waits
    ),
    quantiles as materialized (
      select key, more, min(seconds) filter (where upto >= 0.5 * of) as p50, min(seconds) filter (where upto >= 0.95 * of) as p95
      from ranked group by 1, 2
    ),
    former as materialized (
      select ${group}, ${SUMS_OF_HOURS} from usage_hours where ${isCompared} and ${isMeant(former)} group by ${byGroup}
    )
    select page.*, p50, p95, ${nameOf(by)}, to_jsonb(total) as total, to_jsonb(former) as before,
      (select to_jsonb(f) from (select ${SUMS_OF_ALL} from former) f) as "totalBefore",
      (select summed_at from usage_hours order by hour desc limit 1) as "summedAt"
    from (select ${SUMS_OF_ALL} from sums) total left join page on true left join quantiles using (key, more)
      left join former using (key, more)
    order by place desc, key, hash`;
  const [first] = rows;
  return {
    rows: rows.flatMap((row) =>
      row.key === null ? [] : [toUsageRow(by, row, row.key, toBefore(row.before, isCompared))],
    ),
    total: {
      ...toSums(first?.total ?? NOTHING),
      before: toBefore(first?.totalBefore ?? null, isCompared),
    },
    summedAt: first?.summedAt ?? null,
  };
}

/** `idleMs`: of workers that did not fail. */
type UsageSums = Readonly<Record<keyof typeof SUMMED, number>>;

const NOTHING: UsageSums = {
  jobs: 0,
  started: 0,
  workers: 0,
  podMs: 0,
  idleMs: 0,
  thrownAwayMs: 0,
};

const toBefore = (former: UsageSums | null, isCompared: boolean): UsageRow['before'] => {
  if (!isCompared) return null;
  const { jobs, workers, podMs } = former ?? NOTHING;
  return { jobs, workers, runnerMinutes: podMs / 60_000 };
};

const toSums = ({ jobs, started, workers, podMs, idleMs, thrownAwayMs }: UsageSums) => ({
  jobs,
  started,
  workers,
  runnerMinutes: podMs / 60_000,
  idleMinutes: idleMs / 60_000,
  thrownAwayMinutes: thrownAwayMs / 60_000,
  idleShare: podMs === 0 ? null : idleMs / podMs,
  thrownAwayShare: podMs === 0 ? null : thrownAwayMs / podMs,
});

function nameOf(by: UsageBy): RawBuilder<unknown> {
  const login = sql`(select login from installations where entity_id = page.key order by deleted_at desc nulls first, updated_at desc limit 1)`;
  const fullName = sql`(select repo_full_name from usage_hours n where n.repo_id = page.key order by hour desc limit 1)`;
  const nothing = sql`null::text`;
  const isOfJob = by === 'repository' || by === 'workflow';
  return sql`${by === 'entity' ? login : nothing} as login, ${isOfJob ? fullName : nothing} as "repoFullName"`;
}

interface Row extends UsageSums {
  /** Null: the page is empty. */
  readonly key: number | string | Date | null;
  readonly more: string;
  readonly p50: number | null;
  readonly p95: number | null;
  readonly login: string | null;
  readonly repoFullName: string | null;
  readonly total: UsageSums;
  readonly before: UsageSums | null;
  readonly totalBefore: UsageSums;
  readonly summedAt: Date | null;
  /** By what the row has its place. */
  readonly place: number;
  readonly hash: string | null;
}

function toUsageRow(
  by: UsageBy,
  { more, p50, p95, login, repoFullName, place, hash, ...row }: Row,
  key: number | string | Date,
  before: UsageRow['before'],
): Placed<UsageRow, UsagePosition> {
  const isOfJob = by === 'repository' || by === 'workflow';
  return {
    entity: by === 'entity' ? { id: Number(key), login } : null,
    repository: isOfJob && key !== 0 ? { id: Number(key), fullName: repoFullName } : null,
    workflow: more === '' ? null : more,
    pool: by === 'pool' ? String(key) : null,
    at: key instanceof Date ? key : null,
    ...toSums(row),
    before,
    queuedSeconds: p50 === null || p95 === null ? null : { p50, p95 },
    position: [place, key instanceof Date ? key.toISOString() : String(key), hash ?? ''],
  };
}

const isMeant = ({ from, to, entityId, repoId, pool: name }: UsageFilter): RawBuilder<unknown> =>
  allOf(
    sql`hour >= ${from} and hour < ${to}`,
    // Other rows only count what has not ended.
    sql`(jobs > 0 or workers > 0)`,
    has('entity_id', entityId),
    has('repo_id', repoId),
    has('k8s_pool', name),
  );
