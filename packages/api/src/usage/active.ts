import { allOf, has, isOnPage } from '@paddock/db/newest-first';
import { rowsOf } from '@paddock/db/rows';
import type { Db } from '@paddock/db/schema/tables';
import { LIVE } from '@paddock/db/states/states';
import { sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { isAt, jobPlace, type JobPlace } from '../jobs/job.ts';
import { NOT_HELD } from '../jobs/list-jobs.ts';
import { dates, instant } from '../lists/dates.ts';
import { entityIdOf, repoIdOf } from '../lists/named.ts';

/** More would be a list to look through: whoever wants all of them names filters of jobs. */
const MOST = 200;

const KEYS = {
  entity: sql`entity_id::text`,
  labels: sql`job_labels::text`,
  pool: sql`k8s_pool`,
  reason: sql`coalesce(wait_reason, ${sql.lit(NOT_HELD)})`,
} as const;

const count = z.int();

const activeRow = z.object({
  entity: z.object({ id: z.int(), login: z.string() }).nullable(),
  labels: z
    .array(z.string())
    .nullable()
    .describe('Of jobs, as asked for; of workers, their pool’s'),
  pool: z.string().nullable(),
  reason: z
    .string()
    .nullable()
    .describe(
      `Why jobs wait, as of the list of jobs; ${NOT_HELD}: nothing holds their workers back. Such a row counts these only`,
    ),
  pools: z.array(z.string()).describe('Whose they are'),
  oldestSince: instant.nullable().describe('When the oldest of the waiting jobs was stored'),
  waiting: count.describe('Jobs that wait for a worker'),
  running: count.describe('Jobs that run'),
  starting: count.describe('Workers on their way'),
  idle: count.describe('Workers without a job'),
  busy: count.describe('Workers with a job'),
  stopping: count.describe('Workers without a job that are to end'),
});

export const countActiveEndpoint = endpoint({
  name: 'countActive',
  path: '/api/v1/active',
  summary: `Counts the jobs and workers that live, by entity, labels or pool, or those that wait by reason, the most first: at most ${MOST} rows. What a row is not by is null. No worker is of a repository, a workflow or a time: with these filters none counts.`,
  input: z.object({
    by: z
      .enum(Object.keys(KEYS) as [keyof typeof KEYS])
      .default('entity')
      .describe('What the counts are of'),
    ...jobPlace,
    ...dates,
  }),
  output: z.object({ items: z.array(activeRow) }),
  async answer(caller, { by, entity, repository, ...given }) {
    const entityId = await entityIdOf(caller, entity);
    const filter = { ...given, entityId, repoId: await repoIdOf(caller, repository) };
    return {
      items: (await countActive(caller.db, by, filter)).map(({ key, login, ...counts }) =>
        Object.assign(counts, {
          entity: by === 'entity' ? { id: Number(key), login } : null,
          labels: by === 'labels' ? (JSON.parse(key) as string[]) : null,
          pool: by === 'pool' ? key : null,
          reason: by === 'reason' ? key : null,
        }),
      ),
    };
  },
});

type Counts = Omit<z.output<typeof activeRow>, 'entity' | 'labels' | 'pool' | 'reason'>;

interface Filter extends JobPlace {
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/** In the order of the columns. */
const WHATS = ['waiting', 'running', 'starting', 'idle', 'busy', 'stopping'];
const ofEach = (sum: (what: string) => string) =>
  sql.raw(WHATS.map((what) => `${sum(what)} as ${what}`).join(', '));

const workersThere = (by: keyof typeof KEYS, { entityId, pool, ...ofJobs }: Filter) =>
  by === 'reason' || Object.values(ofJobs).some((given) => given !== undefined)
    ? sql``
    : sql`
      union all
      select ${KEYS[by]}, k8s_pool, entity_name, created_at, case when assigned_at is not null then 'busy' when stopping_at is not null then 'stopping'
        when status = 'pending' then 'starting' else 'idle' end
      from workers where ${LIVE} and ${allOf(has('entity_id', entityId), has('k8s_pool', pool))}`;

/**
 * One statement, so that the figures agree. Jobs and workers that live are few. Why jobs wait is
 * what the matcher stored last.
 */
const countActive = (db: Db, by: keyof typeof KEYS, { from, to, ...place }: Filter) =>
  rowsOf<Counts & { key: string; login: string }>(db)`
    with of_pools as (
      select key, pool collate "C" as pool, max(login) as login, count(*) as many, min(created_at) filter (where what = 'waiting') as oldest,
        ${ofEach((what) => `count(*) filter (where what = '${what}')`)}
      from (
        select ${KEYS[by]} as key, k8s_pool as pool, entity_name as login, created_at, case when wants_worker then 'waiting' else 'running' end as what
        from jobs left join (select demand_key, wait_reason from demand_keys) held using (demand_key)
        where (wants_worker${by === 'reason' ? sql`` : sql` or status = 'running'`}) and ${isAt(place)}
          and ${isOnPage({ id: sql`job_id`, idType: sql`bigint` }, { limit: 0, from, to })}${workersThere(by, { from, to, ...place })}
      ) each group by 1, 2
    )
    select key, max(login) as login, array_agg(pool order by pool) as pools, min(oldest) as "oldestSince",
      ${ofEach((what) => `sum(${what})::bigint`)}
    from of_pools group by key order by sum(many) desc, key limit ${MOST}`;
