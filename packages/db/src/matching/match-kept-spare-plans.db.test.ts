import { examplePools, putInstallation, putPools } from '@paddock/testing/demand-rows';
import { type KeptPlans, openKeptPlans } from '@paddock/testing/kept-plans';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Kysely, sql, type Transaction } from 'kysely';
import { fillJobs, fillWorkers, keepStatistics } from '../scenes/kept-plans.scene.ts';
import { countStoppingWorkers } from './read-snapshot.ts';
import { lockPlanned } from './matching-lock.ts';
import {
  findReturnableWorkers,
  findSpareKeys,
  renewWarmWorkers,
  stopSpareWorkers,
  takeBackWorkers,
} from './spare-workers.ts';
import type { Database } from '../schema/tables.ts';
import { USUAL_FAILURE_RULES } from '@paddock/domain/matching/failure-classes';
import { noteUnservedKeys } from '../workers/failing-keys.ts';
import {
  findUnknownWarmScopes,
  findWarmKeys,
  markWarm,
  reserveWarmWorkers,
} from './reserve-workers.ts';

let plans: KeptPlans;
beforeAll(async () => {
  plans = await openKeptPlans();
});
afterAll(() => plans.close());

const KEYS = 100;
const JOBS = 1_000;
const LIVE = 1_000;
const ENDED = 30_000;
/**
 * The rows that a statement may read: the live ones, a few times over, for any number of keys; none
 * for each key again, and no ended ones.
 */
const MOST = 3 * (JOBS + LIVE);

/** PostgreSQL's statistics still say that there is next to nothing. */
async function fill(db: Kysely<Database>): Promise<void> {
  const model = await fillJobs(db, JOBS, KEYS);
  const more = {
    status: sql`(case when n > ${LIVE}::integer then 'completed' else 'running' end)::status_enum`,
    running_at: sql`now()`,
    completed_at: sql`case when n > ${LIVE}::integer then now() end`,
    registered_at: sql`now()`,
    stopping_at: sql`case when n % 10 = 0 then now() end`,
    stop_reason: sql`case when n % 10 = 0 then 'surplus' end`,
  };
  await fillWorkers(db, model, { workers: LIVE + ENDED, entities: KEYS, more });
  await sql`insert into demand_keys (demand_key, entity_id, entity_name, scope_repo_id, k8s_pool, waiting, unassigned, failures, failure_class)
    select distinct demand_key, entity_id, 'entity', scope_repo_id, k8s_pool, 0, 0, 1, 'not_assigned' from workers`.execute(
    db,
  );
}

const LIFETIME_MS = 3_600_000;
const APP_IDS = [1001, 1002];

const WARM = { entityId: 1, installationId: 51_000_001, scopeRepoId: 0, pool: 'linux' };
/** The number of named workers. */
const NAMED = 100;

/** Every statement of the matcher about spare, warm and unserved workers. */
const statements = (
  demandKeys: readonly number[],
  podNames: readonly string[],
): [string, (trx: Transaction<Database>) => Promise<unknown>][] => [
  ['findSpareKeys', findSpareKeys],
  ['countStoppingWorkers', countStoppingWorkers],
  ['findReturnableWorkers', findReturnableWorkers],
  [
    'lockPlanned',
    (trx) =>
      lockPlanned(trx, {
        giveBack: podNames,
        takeBack: podNames,
        warm: { mark: [], renew: podNames, make: [] },
      }),
  ],
  ['takeBackWorkers', (trx) => takeBackWorkers(trx, podNames)],
  ['noteUnservedKeys', (trx) => noteUnservedKeys(trx, USUAL_FAILURE_RULES)],
  [
    'stopSpareWorkers',
    (trx) =>
      stopSpareWorkers(
        trx,
        demandKeys.map((demandKey) => ({ demandKey, count: 1, inTheWay: 0 })),
        { surplusAfterMs: 0 },
      ),
  ],
  ['renewWarmWorkers', (trx) => renewWarmWorkers(trx, podNames)],
  ['findUnknownWarmScopes', (trx) => findUnknownWarmScopes(trx, APP_IDS)],
  ['findWarmKeys', (trx) => findWarmKeys(trx, { lifetimeMs: LIFETIME_MS, appIds: APP_IDS })],
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
async function rowsRead(
  db: Kysely<Database>,
  act: (trx: Transaction<Database>) => Promise<unknown>,
): Promise<number> {
  const trx = await db.startTransaction().execute();
  const read = async () => {
    const { rows } = await sql<{ count: number }>`
      select coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::float8 as count from pg_stat_xact_user_tables
      where schemaname = ${plans.schema}`.execute(trx);
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

test('statements about spare, warm and unserved workers, planned with few rows, read no more than their rows (C3, C10, C11)', async () => {
  const { db } = plans;
  const warm = ['entity', 'entity/api'].map((scope) => ({ scope, workers: 2 }));
  await putPools(db, examplePools({ pools: [{ warm }] }));
  await putInstallation(db, { entity_id: 1, login: 'entity' });
  await keepStatistics(db, ['jobs', 'workers', 'demand_keys']);
  const started = {
    status: 'running',
    running_at: minutesAgo(1),
    registered_at: minutesAgo(1),
  } as const;
  const { demand_key: first, pod_name: only } = await putWorker(db, {
    ...started,
    entity_id: 1,
    entity_name: 'entity',
  });
  for (let time = 0; time < 12; time += 1)
    for (const [, act] of statements([first], [only])) await rowsRead(db, act);
  await fill(db);
  const keys = await db.selectFrom('workers').select('demand_key').distinct().execute();
  const names = await db
    .selectFrom('workers')
    .select('pod_name')
    .where('status', '=', 'running')
    .limit(NAMED)
    .execute();
  const work: [string, number][] = [];
  for (const [name, act] of statements(
    keys.map((key) => key.demand_key),
    names.map((worker) => worker.pod_name),
  ))
    work.push([name, await rowsRead(db, act)]);
  expect(work.filter(([, rows]) => rows === 0 || rows > MOST)).toEqual([]);
});
