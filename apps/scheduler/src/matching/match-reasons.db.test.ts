import { beforeEach, describe, expect, test } from '@jest/globals';
import { findChange } from '@paddock/api/why/explain-job';
import { findWaitFacts } from '@paddock/api/why/find-wait-facts';
import { saveAppIds } from '@paddock/db/instance';
import type { PoolsDocument } from '@paddock/domain/pools/pools-document';
import { examplePools, putJob, putPools } from '@paddock/testing/demand-rows';
import { putWorker } from '@paddock/testing/worker-rows';
import { matchOnce, useMatchingDatabase, findReasons } from '../scenes/matching.scene.ts';
import { GATE } from '../scenes/settings.scene.ts';
import { liftSwitch, setSwitch } from '@paddock/db/switches';

const startsAt = Date.now();

/** The nth job of its test. */
const at = (nth: number) => ({ created_at: new Date(startsAt + nth) });

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

const GLOBEX = { entity_id: 90_000_002, entity_name: 'globex' };

const linux = 'pool:linux';

const acme = 'entity:90000001';

describe('a stated change of a cap (P5)', () => {
  const testDb = useMatchingDatabase();

  beforeEach(() => saveAppIds(testDb.db, GATE.appIds));

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
});

describe('the reasons that jobs waited for (P5)', () => {
  const testDb = useMatchingDatabase(examplePools({ pools: [{ maxWorkers: 0 }] }));

  const changes = () =>
    testDb.db.selectFrom('wait_reason_changes').selectAll().orderBy('until').execute();

  const sinceOf = async () =>
    (await testDb.db.selectFrom('demand_keys').select('wait_since').executeTakeFirst())?.wait_since;

  test('are kept with their times when they change, and written at no other pass', async () => {
    const job = await putJob(testDb.db);
    await matchOnce(testDb.db);
    const since = await sinceOf();
    await putJob(testDb.db);
    await matchOnce(testDb.db);
    expect(await changes()).toEqual([]);

    await setSwitch(testDb.db, 'environment', 'ada');
    await matchOnce(testDb.db);
    const until = await sinceOf();
    const first = { demand_key: job.demand_key, reason: 'at_pool_cap', since, until };
    expect(await changes()).toEqual([first]);

    await liftSwitch(testDb.db, 'environment');
    await putPools(testDb.db, examplePools());
    await matchOnce(testDb.db);
    const second = { reason: 'making_stopped', since: until, until: expect.any(Date) };
    expect(await changes()).toEqual([first, expect.objectContaining(second)]);
    await matchOnce(testDb.db);
    expect(await changes()).toHaveLength(2);
  });
});

describe('a switch of the making of workers (C12)', () => {
  const testDb = useMatchingDatabase(
    examplePools({ pools: [{}, { name: 'gpu', labels: ['gpu'] }] }),
  );

  test.each([
    ['the environment', 'environment', { gpu: 'making_stopped', linux: 'making_stopped' }],
    ['a pool', linux, { gpu: null, linux: 'making_stopped' }],
    ['an entity', acme, { gpu: null, linux: 'making_stopped' }],
  ])(
    'holds for %s from the next pass on, says so, and ends with it',
    async (_name, subject, reasons) => {
      await putJob(testDb.db);
      await putJob(testDb.db, { k8s_pool: 'gpu', ...GLOBEX });
      await setSwitch(testDb.db, subject, 'ada');
      const stopped = Object.values(reasons).filter((reason) => reason !== null).length;
      expect((await matchOnce(testDb.db)).reserved).toHaveLength(2 - stopped);
      expect(await findReasons(testDb.db)).toEqual(reasons);

      await liftSwitch(testDb.db, subject);
      expect((await matchOnce(testDb.db)).reserved).toHaveLength(stopped);
      expect(await findReasons(testDb.db)).toEqual({ gpu: null, linux: null });
    },
  );

  test('gives back unregistered reservations, and leaves the other workers alone (P2)', async () => {
    const begun = await putWorker(testDb.db, { registration_started_at: new Date() });
    await putWorker(testDb.db);
    await putJob(testDb.db);
    await putJob(testDb.db);
    await setSwitch(testDb.db, linux, 'ada');
    expect((await matchOnce(testDb.db)).ended).toHaveLength(1);
    const alive = await testDb.db
      .selectFrom('workers')
      .select('pod_name')
      .where('status', '=', 'pending')
      .execute();
    expect(alive).toEqual([{ pod_name: begun.pod_name }]);
  });

  test.each(['acme', '', '0', '-7', '12 ', '90071992547409931'])(
    'of an entity is refused by the table for “%s”, which is no id',
    async (subject_id) => {
      const written = testDb.db
        .insertInto('switches')
        .values({ subject_type: 'entity', subject_id, switched_by: 'ada' })
        .execute();
      await expect(written).rejects.toThrow(/violates check constraint/);
    },
  );
});
