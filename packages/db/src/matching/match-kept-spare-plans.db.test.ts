import { createTestDatabase, type TestDatabase } from '@paddock/testing/database';
import { examplePools, putJob, putPools } from '@paddock/testing/demand-rows';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Kysely, sql, type Transaction } from 'kysely';
import { connectDatabase, type DatabaseConnection } from '../connection/connect.ts';
import { countStoppingWorkers, findSpareKeys, retireAgedWarmWorkers, retireWorkers, takeBackWorkers } from './spare-workers.ts';
import type { Database } from '../schema/tables.ts';
import { forgetServedKeys, noteUnservedKeys } from './unserved-keys.ts';
import { findUnknownWarmScopes, findWarmKeys, learnWarmRepositories, markWarm, reserveWarmWorkers } from './warm-workers.ts';

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

const KEYS = 100;
const JOBS = 1_000;
const LIVE = 1_000;
const ENDED = 30_000;
/** What a statement may read: what lives, a few times over, for however many keys; nothing for each key anew, and nothing that has ended. */
const MOST = 3 * (JOBS + LIVE);

/** PostgreSQL's statistics still say that there is next to nothing. */
async function fill(db: Kysely<Database>): Promise<void> {
  const { job_id: model } = await putJob(db);
  const columns = sql`entity_type, app_id, installation_id, job_labels, k8s_pool, k8s_image, scope_repo_id, pools_version`;
  await sql`insert into jobs (job_id, wants_worker, entity_id, entity_name, repo_id, repo_full_name, run_id, run_attempt, job_name, ${columns})
    select n, true, n % ${KEYS}::integer + 1, 'account', repo_id, repo_full_name, n, 1, job_name, ${columns}
    from jobs, generate_series(1, ${JOBS}::integer) n where job_id = ${model}`.execute(db);
  await sql`insert into workers (pod_name, entity_id, entity_name, namespace, status, running_at, completed_at, registered_at, stopping_at,
      stop_reason, ${columns})
    select 'pdk-abc123-kept-' || n, n % ${KEYS}::integer + 1, 'account', 'runners',
      (case when n > ${LIVE}::integer then 'completed' else 'running' end)::status_enum, now(), case when n > ${LIVE}::integer then now() end, now(),
      case when n % 10 = 0 then now() end, case when n % 10 = 0 then 'surplus' end, ${columns}
    from jobs, generate_series(1, ${LIVE + ENDED}::integer) n where job_id = ${model}`.execute(db);
  await sql`insert into unserved_keys (demand_key, entity_id, scope_repo_id, k8s_pool, worker_created_at)
    select distinct demand_key, entity_id, scope_repo_id, k8s_pool, now() from workers`.execute(db);
}

const LIFETIME_MS = 3_600_000;

const WARM = { entityId: 1, installationId: 51_000_001, scopeRepoId: 0, pool: 'linux' };

/** Every statement of the matcher about spare, warm and unserved workers. */
const statements = (demandKeys: readonly number[]): [string, (trx: Transaction<Database>) => Promise<unknown>][] => [
  ['findSpareKeys', findSpareKeys],
  ['countStoppingWorkers', countStoppingWorkers],
  ['takeBackWorkers', takeBackWorkers],
  ['noteUnservedKeys', (trx) => noteUnservedKeys(trx, { firstMs: 1_000, longestMs: 1_000 })],
  ['forgetServedKeys', forgetServedKeys],
  [
    'retireWorkers',
    (trx) =>
      retireWorkers(
        trx,
        demandKeys.map((demandKey) => ({ demandKey, count: 1, inTheWay: 0 })),
        { surplusAfterMs: 0 },
      ),
  ],
  [
    'retireAgedWarmWorkers',
    (trx) =>
      retireAgedWarmWorkers(
        trx,
        demandKeys.map((demandKey) => ({ demandKey, count: 1 })),
        { lifetimeMs: LIFETIME_MS },
      ),
  ],
  ['learnWarmRepositories', learnWarmRepositories],
  ['findUnknownWarmScopes', findUnknownWarmScopes],
  ['findWarmKeys', (trx) => findWarmKeys(trx, { lifetimeMs: LIFETIME_MS })],
  [
    'markWarm',
    (trx) =>
      markWarm(
        trx,
        demandKeys.map((demandKey) => ({ demandKey, count: 1 })),
      ),
  ],
  [
    'reserveWarmWorkers',
    (trx) =>
      reserveWarmWorkers(
        trx,
        demandKeys.map((demandKey) => ({ demandKey, count: 1, ...WARM })),
      ),
  ],
];

/** The rows of our tables that `act` reads in a transaction that leaves nothing behind. */
async function rowsRead(db: Kysely<Database>, act: (trx: Transaction<Database>) => Promise<unknown>): Promise<number> {
  const trx = await db.startTransaction().execute();
  const read = async () => {
    const { rows } = await sql<{ count: number }>`
      select coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::float8 as count from pg_stat_xact_user_tables
      where schemaname = ${database.schema}`.execute(trx);
    return rows[0]?.count ?? Infinity;
  };
  try {
    const before = await read();
    await act(trx);
    return (await read()) - before;
  } finally {
    await trx.rollback().execute();
  }
}

async function putAccount(db: Kysely<Database>): Promise<void> {
  const account = { entity_id: 1, login: 'account', entity_type: 'Organization', stated_at: new Date() } as const;
  await db
    .insertInto('installations')
    .values({ ...account, app_id: 1001, installation_id: 51_000_001 })
    .execute();
}

test('statements about spare, warm and unserved workers, planned while there was next to nothing, read no more than what they are about (C3, C10, C11)', async () => {
  const { db } = connection;
  const warm = ['account', 'account/api'].map((scope) => ({ scope, workers: 2 }));
  await putPools(db, examplePools({ pools: [{ warm }] }));
  await putAccount(db);
  for (const table of ['jobs', 'workers', 'unserved_keys'] as const) {
    await sql`alter table ${sql.table(table)} set (autovacuum_enabled = false)`.execute(db);
    await sql`vacuum analyze ${sql.table(table)}`.execute(db);
  }
  const started = { status: 'running', running_at: minutesAgo(1), registered_at: minutesAgo(1) } as const;
  const { demand_key: first } = await putWorker(db, { ...started, entity_id: 1, entity_name: 'account' });
  for (let time = 0; time < 12; time += 1) for (const [, act] of statements([first])) await rowsRead(db, act);
  await fill(db);
  const keys = await db.selectFrom('workers').select('demand_key').distinct().execute();
  const work: [string, number][] = [];
  for (const [name, act] of statements(keys.map((key) => key.demand_key))) work.push([name, await rowsRead(db, act)]);
  expect(work.filter(([, rows]) => rows === 0 || rows > MOST)).toEqual([]);
});
