import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { examplePools, putJob, putPools } from '@paddock/testing/demand-rows';
import { type KeptPlans, openKeptPlans } from '@paddock/testing/kept-plans';
import { type Kysely, sql } from 'kysely';
import { fillJobs, fillWorkers, keepStatistics } from '@paddock/db/scenes/kept-plans.scene';
import { matchOnce } from '../scenes/matching.scene.ts';
import type { Database } from '@paddock/db/schema/tables';

let plans: KeptPlans;
beforeAll(async () => {
  plans = await openKeptPlans();
});
afterAll(() => plans.close());

const JOBS = 1_800;
const KEYS = 180;
const WORKERS = 900;

/**
 * Jobs of many keys, and unregistered workers for half of them. PostgreSQL's statistics still say
 * that there are none.
 */
async function fill(db: Kysely<Database>): Promise<void> {
  const model = await fillJobs(db, JOBS, KEYS);
  await fillWorkers(db, model, {
    workers: WORKERS,
    entities: KEYS,
    more: { made_for_job_id: sql`n` },
  });
}

interface Plan {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly Plans?: readonly Plan[];
}

/** The rows that the busiest step of a plan has handled. */
function mostRows(plan: Plan): number {
  const perLoop =
    plan['Actual Rows'] +
    (plan['Rows Removed by Filter'] ?? 0) +
    (plan['Rows Removed by Join Filter'] ?? 0);
  return Math.max(perLoop * plan['Actual Loops'], ...(plan.Plans ?? []).map(mostRows));
}

test('statements with plans from a time without waiting jobs do no more work per row when thousands wait (C4)', async () => {
  const { db } = plans;
  await putPools(
    db,
    examplePools({
      pools: [{}, { name: 'gpu', labels: ['gpu'] }],
      entities: { '*': { maxWorkers: 7 } },
    }),
  );
  await keepStatistics(db, ['jobs', 'workers', 'demand_keys']);
  await matchOnce(db);
  for (let n = 0; n < 12; n += 1) {
    await putJob(db);
    await putJob(db, { k8s_pool: 'gpu' });
    await matchOnce(db);
  }
  await fill(db);
  const { rows: keys } = await sql`
    select demand_key as "demandKey", 3 as count from jobs where wants_worker and k8s_pool = 'linux' group by demand_key`.execute(
    db,
  );
  const { rows: statements } = await sql<{ name: string; text: string; types: string[] }>`
    select name, statement as text, array(select t::text from unnest(parameter_types) t) as types from pg_prepared_statements
    where statement ~ 'with deficits|json_agg|insert into workers|group by demand_key' and statement not like '%pg_prepared_statements%'`.execute(
    db,
  );
  const work = new Map<string, number>();
  const values: Readonly<Record<string, string>> = {
    jsonb: `'${JSON.stringify(keys)}'`,
    'bigint[]': `'{1001}'`,
    text: `'none'`,
  };
  for (const { name, text, types } of statements.filter((statement) =>
    statement.types.every((type) => type in values),
  )) {
    const given = types.length === 0 ? '' : `(${types.map((type) => values[type]).join(', ')})`;
    const rolledBack = db.transaction().execute(async (trx) => {
      const { rows } = await sql
        .raw<{ 'QUERY PLAN': { Plan: Plan }[] }>(
          `explain (analyze, format json) execute ${name}${given}`,
        )
        .execute(trx);
      work.set(
        text,
        mostRows(
          rows[0]?.['QUERY PLAN'][0]?.Plan ?? { 'Actual Rows': Infinity, 'Actual Loops': 1 },
        ),
      );
      throw new Error('rolled back');
    });
    await expect(rolledBack).rejects.toThrow('rolled back');
  }
  expect(work.size).toBe(6);
  expect([...work].filter(([, rows]) => rows > 3 * (JOBS + WORKERS))).toEqual([]);
});
