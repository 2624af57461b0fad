import { rowsOf } from '@paddock/db/rows';
import type { Db } from '@paddock/db/schema/tables';
import { LIVE } from '@paddock/db/states/states';
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

/** More would be a list to look through: whoever wants all of them names filters of jobs. */
const MOST = 200;

const KEYS = {
  entity: sql`entity_id::text`,
  labels: sql`job_labels::text`,
  pool: sql`k8s_pool`,
} as const;

const count = z.int();

const activeRow = z.object({
  entity: z.object({ id: z.int(), login: z.string() }).nullable(),
  labels: z
    .array(z.string())
    .nullable()
    .describe('Of jobs, as asked for; of workers, their pool’s'),
  pool: z.string().nullable(),
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
  summary: `Counts the jobs and workers that live, by entity, labels or pool, the most first: at most ${MOST} rows. What a row is not by is null.`,
  input: z.object({
    by: z
      .enum(Object.keys(KEYS) as [keyof typeof KEYS])
      .default('entity')
      .describe('What the counts are of'),
  }),
  output: z.object({ items: z.array(activeRow) }),
  answer: async ({ db }, { by }) => ({
    items: (await countActive(db, KEYS[by])).map(({ key, login, ...counts }) =>
      Object.assign(counts, {
        entity: by === 'entity' ? { id: Number(key), login } : null,
        labels: by === 'labels' ? (JSON.parse(key) as string[]) : null,
        pool: by === 'pool' ? key : null,
      }),
    ),
  }),
});

type Counts = Omit<z.output<typeof activeRow>, 'entity' | 'labels' | 'pool'>;

/** One statement, so that the figures agree. Jobs and workers that live are few. */
const countActive = (db: Db, key: RawBuilder<unknown>) =>
  rowsOf<Counts & { key: string; login: string }>(db)`
    select key, max(login) as login, count(*) filter (where what = 'waiting') as waiting, count(*) filter (where what = 'running') as running,
      count(*) filter (where what = 'starting') as starting, count(*) filter (where what = 'idle') as idle,
      count(*) filter (where what = 'busy') as busy, count(*) filter (where what = 'stopping') as stopping
    from (
      select ${key} as key, entity_name as login, case when wants_worker then 'waiting' else 'running' end as what
      from jobs where wants_worker or status = 'running'
      union all
      select ${key}, entity_name, case when assigned_at is not null then 'busy' when stopping_at is not null then 'stopping'
        when status = 'pending' then 'starting' else 'idle' end
      from workers where ${LIVE}
    ) each group by key order by count(*) desc, key limit ${MOST}`;
