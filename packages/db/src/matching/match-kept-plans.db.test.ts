import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@paddock/testing/database';
import { examplePools, putJob, putPools } from '@paddock/testing/demand-rows';
import { type Kysely, sql } from 'kysely';
import { connectDatabase, type DatabaseConnection } from '../connection/connect.ts';
import { matchOnce } from './matching.scene.ts';
import type { Database } from '../schema/tables.ts';

let database: TestDatabase;
let connection: DatabaseConnection;
beforeAll(async () => {
  database = await createTestDatabase();
  // One connection, so that all statements meet the plans that the first ones left there.
  connection = connectDatabase({ url: database.url, schema: database.schema, applicationName: 'kept-plans', poolSize: 1 });
});
afterAll(async () => {
  await connection.close();
  await database.drop();
});

const JOBS = 1_800;
const KEYS = 180;
const WORKERS = 900;

/** Many keys' jobs, and workers for half of them that nobody has begun to register. PostgreSQL's statistics still say that there are none. */
async function fill(db: Kysely<Database>): Promise<void> {
  const { job_id: model } = await putJob(db);
  const columns = sql`entity_type, app_id, installation_id, job_labels, k8s_pool, k8s_image, scope_repo_id, pools_version`;
  await sql`insert into jobs (job_id, wants_worker, entity_id, entity_name, repo_id, repo_full_name, run_id, run_attempt, job_name, ${columns})
    select n, true, n % ${KEYS}::integer + 1, 'account', repo_id, repo_full_name, n, 1, job_name, ${columns}
    from jobs, generate_series(1, ${JOBS}::integer) n where job_id = ${model}`.execute(db);
  await sql`insert into workers (pod_name, made_for_job_id, entity_id, entity_name, namespace, ${columns})
    select 'pdk-abc123-kept-' || n, n, n % ${KEYS}::integer + 1, 'account', 'runners', ${columns}
    from jobs, generate_series(1, ${WORKERS}::integer) n where job_id = ${model}`.execute(db);
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
  const perLoop = plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Join Filter'] ?? 0);
  return Math.max(perLoop * plan['Actual Loops'], ...(plan.Plans ?? []).map(mostRows));
}

test('statements whose plans were kept while nothing waited do no more work per row when thousands wait (C4)', async () => {
  const { db } = connection;
  await putPools(db, examplePools({ pools: [{}, { name: 'gpu', labels: ['gpu'] }], entities: { '*': { maxWorkers: 7 } } }));
  for (const table of ['jobs', 'workers', 'demand_keys'] as const) {
    await sql`alter table ${sql.table(table)} set (autovacuum_enabled = false)`.execute(db);
    await sql`vacuum analyze ${sql.table(table)}`.execute(db);
  }
  await matchOnce(db);
  for (let n = 0; n < 12; n += 1) {
    await putJob(db);
    await putJob(db, { k8s_pool: 'gpu' });
    await matchOnce(db);
  }
  await fill(db);
  const { rows: keys } = await sql`
    select demand_key as "demandKey", 3 as count from jobs where wants_worker and k8s_pool = 'linux' group by demand_key`.execute(db);
  const { rows: statements } = await sql<{ name: string; text: string; parameters: number }>`
    select name, statement as text, coalesce(array_length(parameter_types, 1), 0) as parameters from pg_prepared_statements
    where statement ~ 'with deficits|json_agg|insert into workers|group by demand_key' and statement not like '%pg_prepared_statements%'`.execute(
    db,
  );
  const work = new Map<string, number>();
  for (const { name, text, parameters } of statements.filter((statement) => statement.parameters <= 1)) {
    const given = parameters === 0 ? '' : `('${JSON.stringify(keys)}')`;
    const rolledBack = db.transaction().execute(async (trx) => {
      const { rows } = await sql
        .raw<{ 'QUERY PLAN': { Plan: Plan }[] }>(`explain (analyze, format json) execute ${name}${given}`)
        .execute(trx);
      work.set(text, mostRows(rows[0]?.['QUERY PLAN'][0]?.Plan ?? { 'Actual Rows': Infinity, 'Actual Loops': 1 }));
      throw new Error('rolled back');
    });
    await expect(rolledBack).rejects.toThrow('rolled back');
  }
  expect(work.size).toBe(6);
  expect([...work].filter(([, rows]) => rows > 3 * (JOBS + WORKERS))).toEqual([]);
});
