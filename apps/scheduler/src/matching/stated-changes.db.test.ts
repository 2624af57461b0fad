import { beforeEach, describe, expect, test } from '@jest/globals';
import { findChange } from '@paddock/api/why/explain-job';
import { findWaitFacts } from '@paddock/api/why/find-wait-facts';
import { saveAppIds } from '@paddock/db/instance';
import type { PoolsDocument } from '@paddock/domain/pools/pools-document';
import { examplePools, putJob, putPools } from '@paddock/testing/demand-rows';
import { putWorker } from '@paddock/testing/worker-rows';
import { matchOnce, useMatchingDatabase } from '../scenes/matching.scene.ts';
import { GATE } from '../scenes/settings.scene.ts';

const testDb = useMatchingDatabase();
beforeEach(() => saveAppIds(testDb.db, GATE.appIds));

const startsAt = Date.now();
/** The nth job of its test. */
const at = (nth: number) => ({ created_at: new Date(startsAt + nth) });

/** Says which limit would give a job a worker, and its reason to wait. */
const ask = (jobId: number) =>
  testDb.db.transaction().execute(async (trx) => {
    const facts = await findWaitFacts(trx, jobId);
    const reason = facts?.key?.waitReason ?? null;
    return { reason, change: facts && (await findChange(trx, facts, reason)) };
  });

/** Whether the job's key has a worker for it, with these pools in force. */
async function hasWorker(jobId: number, pools: PoolsDocument): Promise<boolean> {
  const { db } = testDb;
  await putPools(db, pools);
  await matchOnce(db);
  const { place, workers } =
    (await db.transaction().execute((trx) => findWaitFacts(trx, jobId))) ?? {};
  return (workers?.length ?? 0) >= (place?.position ?? Infinity);
}

const usual = { maxWorkers: null };
type Given = Parameters<typeof examplePools>[0];

/** A scene: its jobs by entity and pool, which of them is asked about, and its pools by one limit. */
interface Scene {
  readonly jobs: readonly {
    readonly entity?: number;
    readonly pool?: string;
    readonly repo?: number;
  }[];
  readonly asked: number;
  readonly limit: number;
  readonly pools: (limit: number) => Given;
  readonly enough: number;
  /** Of the places more, those that jobs of other queues get before. */
  readonly others?: number;
  readonly setting: string;
}

const many = (count: number, job: Scene['jobs'][number] = {}) =>
  Array.from({ length: count }, () => job);
const big = { name: 'big', labels: ['big'] };

const SCENES: Readonly<Record<string, Scene>> = {
  'a pool that is full': {
    jobs: many(7),
    asked: 6,
    limit: 2,
    pools: (maxWorkers) => ({ pools: [{ maxWorkers }] }),
    enough: 7,
    setting: 'maxWorkers of the pool linux',
  },
  'a pool that entities share: the others get their turns': {
    jobs: [...many(3, { entity: 7 }), ...many(2), ...many(3, { entity: 7 })],
    asked: 4,
    limit: 1,
    pools: (maxWorkers) => ({ pools: [{ maxWorkers }] }),
    enough: 4,
    others: 1,
    setting: 'maxWorkers of the pool linux',
  },
  'an entity that has spent its cap on older jobs elsewhere': {
    jobs: [...many(3, { pool: 'big' }), {}],
    asked: 3,
    limit: 2,
    pools: (maxWorkers) => ({ pools: [{}, big], entities: { Acme: { maxWorkers } } }),
    enough: 4,
    others: 1,
    setting: 'maxWorkers of acme',
  },
  'an entity that only * admits': {
    jobs: many(3),
    asked: 2,
    limit: 1,
    pools: (maxWorkers) => ({ entities: { '*': { maxWorkers } } }),
    enough: 3,
    setting: "maxWorkers of '*'",
  },
  'entities that only * admits together': {
    jobs: [...many(2, { entity: 7 }), {}],
    asked: 2,
    limit: 1,
    pools: (commonMaxWorkers) => ({ entities: { '*': { maxWorkers: null, commonMaxWorkers } } }),
    enough: 2,
    setting: "commonMaxWorkers of '*'",
  },
  'a repository': {
    jobs: many(3, { repo: 5 }),
    asked: 2,
    limit: 0,
    pools: (maxWorkersPerRepository) => ({
      pools: [{ registration: 'repository', maxWorkersPerRepository }],
    }),
    enough: 3,
    setting: 'maxWorkersPerRepository of the pool linux for acme/api',
  },
};

async function play({ jobs, asked }: Pick<Scene, 'jobs' | 'asked'>): Promise<number> {
  const ids: number[] = [];
  for (const [nth, { entity, pool, repo }] of jobs.entries()) {
    const job = await putJob(testDb.db, {
      ...at(nth),
      ...(entity === undefined ? {} : { entity_id: entity, entity_name: `entity-${entity}` }),
      ...(pool === undefined ? {} : { k8s_pool: pool }),
      ...(repo === undefined ? {} : { scope_repo_id: repo }),
    });
    ids.push(job.job_id);
  }
  return ids[asked] ?? 0;
}

describe('a stated change of a cap (P5)', () => {
  test.each(Object.entries(SCENES))('is true, and the smallest: %s', async (_which, scene) => {
    const { limit, enough, others, setting, pools } = scene;
    const first =
      others === undefined ? '' : `; ${others} of the added places goes to other queues first`;
    const job = await play(scene);
    expect(await hasWorker(job, examplePools(pools(limit)))).toBe(false);
    expect((await ask(job)).change).toBe(
      `With ${enough} as ${setting}, instead of ${limit}, it would have a worker now${first}.`,
    );
    expect(await hasWorker(job, examplePools(pools(enough - 1)))).toBe(false);
    expect(await hasWorker(job, examplePools(pools(enough)))).toBe(true);
  });

  test('is not stated where another cap binds as well', async () => {
    await putPools(
      testDb.db,
      examplePools({ pools: [{ maxWorkers: 1 }], entities: { acme: { maxWorkers: 1 } } }),
    );
    const job = await play({ jobs: many(2), asked: 1 });
    await matchOnce(testDb.db);
    expect(await ask(job)).toEqual({ reason: 'at_entity_cap', change: null });
  });

  test('is not stated where the next pass makes the worker', async () => {
    await putPools(
      testDb.db,
      examplePools({ pools: [{ maxWorkers: 1 }], entities: { '*': usual } }),
    );
    const { pod_name: running } = await putWorker(testDb.db, {
      status: 'running',
      assigned_at: new Date(),
    });
    const { job_id: job } = await putJob(testDb.db);
    await matchOnce(testDb.db);
    expect((await ask(job)).change).toMatch(/^With 2 as maxWorkers of the pool linux/);
    await testDb.db
      .updateTable('workers')
      .set({ status: 'completed', completed_at: new Date() })
      .where('pod_name', '=', running)
      .execute();
    expect(await ask(job)).toEqual({ reason: 'at_pool_cap', change: null });
  });

  test('counts from a lowered cap, under which many workers still run', async () => {
    await putPools(testDb.db, examplePools({ pools: [{ maxWorkers: 2 }] }));
    for (let nth = 0; nth < 5; nth += 1)
      await putWorker(testDb.db, { status: 'running', assigned_at: new Date() });
    const { job_id: job } = await putJob(testDb.db);
    await matchOnce(testDb.db);
    expect((await ask(job)).change).toMatch(/^With 6 as .* instead of 2,/);
  });
});
