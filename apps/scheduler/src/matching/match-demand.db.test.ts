import { describe, expect, test } from '@jest/globals';
import { WAIT_REASONS } from '@paddock/domain/matching/wait-reasons';
import { examplePools, putInstallation, putJob, putPools } from '@paddock/testing/demand-rows';
import { sql, type Updateable } from 'kysely';
import { LIMITS, matchOnce, useMatchingDatabase } from '../scenes/matching.scene.ts';
import { GATE } from '../scenes/settings.scene.ts';
import { lockMatching } from '@paddock/db/matching/matching-lock';
import { matchIn } from './match.ts';
import type { Database } from '@paddock/db/schema/tables';

const testDb = useMatchingDatabase(examplePools());

const match = (most = 1_000) => matchOnce(testDb.db, { most });

const reserve = async () => (await match()).reserved;
const workers = () =>
  testDb.db.selectFrom('workers').selectAll().orderBy('created_at').orderBy('pod_name').execute();
const keys = () => testDb.db.selectFrom('demand_keys').selectAll().orderBy('k8s_pool').execute();
const change = (podName: string, set: Updateable<Database['workers']>) =>
  update().set(set).where('pod_name', '=', podName).execute();
const update = () => testDb.db.updateTable('workers');
const first = <T>(list: readonly T[]): T => {
  const [one] = list;
  if (one === undefined) throw new Error('the list is empty');
  return one;
};

describe('reserving workers', () => {
  test('makes one worker per waiting job, for the oldest first, and none at the next pass (C2, C3, C4)', async () => {
    const younger = await putJob(testDb.db, { created_at: new Date('2026-01-02') });
    const older = await putJob(testDb.db, {
      created_at: new Date('2026-01-01'),
      delivery_guid: 'guid-of-older',
    });
    const reserved = await reserve();
    expect(reserved.map((worker) => worker.madeForJobId)).toEqual([older.job_id, younger.job_id]);
    expect(first(reserved).deliveryGuid).toBe('guid-of-older');
    expect(await reserve()).toEqual([]);
    const later = await putJob(testDb.db);
    expect((await reserve()).map((worker) => worker.madeForJobId)).toEqual([later.job_id]);
  });

  test('makes at most this many in one pass, for the oldest jobs first, and continues in the next (C4)', async () => {
    const jobs = [await putJob(testDb.db), await putJob(testDb.db), await putJob(testDb.db)];
    const { reserved, lacking, hasMore } = await match(2);
    expect({ lacking, hasMore }).toEqual({ lacking: 1, hasMore: true });
    expect(reserved.map((worker) => worker.madeForJobId)).toEqual(
      jobs.slice(0, 2).map((job) => job.job_id),
    );
    expect(first(await keys())).toMatchObject({ waiting: 3, unassigned: 2, wait_reason: null });
    expect((await match(2)).reserved).toHaveLength(1);
    expect((await match(2)).reserved).toEqual([]);
  });

  test('names a worker by instance and pool, within 60 characters, and copies the facts of its job (A3, A8)', async () => {
    const pool = {
      name: 'a-pool-whose-name-is-as-long-30',
      labels: ['long'],
      image: 'long:2',
      namespace: 'elsewhere',
    };
    await putPools(testDb.db, examplePools({ pools: [{ ...pool, name: pool.name.slice(0, 30) }] }));
    const job = await putJob(testDb.db, {
      k8s_pool: pool.name.slice(0, 30),
      job_labels: '["long"]',
    });
    await reserve();
    const { instance_id: instance } = await testDb.db
      .selectFrom('instance')
      .select('instance_id')
      .executeTakeFirstOrThrow();
    const worker = first(await workers());
    expect(worker.pod_name).toMatch(
      new RegExp(`^pdk-${instance}-${pool.name.slice(0, 30)}-[0-9a-f]{12}$`),
    );
    expect(worker.pod_name.length).toBeLessThanOrEqual(60);
    expect(worker).toMatchObject({
      status: 'pending',
      job_labels: ['long'],
      k8s_image: 'long:2',
      namespace: 'elsewhere',
      made_for_job_id: job.job_id,
      demand_key: job.demand_key,
      repo_full_name: null,
    });
  });

  test('a pool’s dots are no dots of a name in the cluster, and its label keeps them (A8, H3)', async () => {
    await putPools(testDb.db, examplePools({ pools: [{ name: 'v1.29-arm', labels: ['arm'] }] }));
    await putJob(testDb.db, { k8s_pool: 'v1.29-arm', job_labels: '["arm"]' });
    await reserve();
    expect(await workers()).toMatchObject([
      {
        k8s_pool: 'v1.29-arm',
        pod_name: expect.stringMatching(/^pdk-\w+-v1-29-arm-[0-9a-f]{12}$/),
      },
    ]);
  });

  test('never writes to a job (C4)', async () => {
    const job = await putJob(testDb.db);
    await reserve();
    expect(await testDb.db.selectFrom('jobs').selectAll().executeTakeFirst()).toEqual(job);
  });

  test('gives each repository of a user its own worker (C2)', async () => {
    const user = { entity_type: 'User', entity_name: 'sam', entity_id: 90_000_002 } as const;
    await putJob(testDb.db, { ...user, repo_id: 1, repo_full_name: 'sam/one' });
    await putJob(testDb.db, { ...user, repo_id: 2, repo_full_name: 'sam/two' });
    expect(await reserve()).toHaveLength(2);
    const made = await workers();
    expect(new Set(made.map((worker) => worker.scope_repo_id))).toEqual(new Set([1, 2]));
    expect(new Set(made.map((worker) => worker.repo_full_name))).toEqual(
      new Set(['sam/one', 'sam/two']),
    );
  });

  test('replaces a worker that failed (C3)', async () => {
    await putJob(testDb.db);
    await reserve();
    await update().set({ status: 'failed', completed_at: new Date() }).execute();
    expect(await reserve()).toHaveLength(1);
  });

  test('makes another worker when a foreign job took the one that was made for a waiting job (B7, C3)', async () => {
    const job = await putJob(testDb.db);
    const [made] = await reserve();
    await change(made?.podName ?? '', { assigned_at: new Date(), assigned_job_id: 1 });
    expect((await reserve()).map((worker) => worker.madeForJobId)).toEqual([job.job_id]);
  });

  test('makes another worker for a job whose own is being stopped (C3)', async () => {
    const job = await putJob(testDb.db);
    const [made] = await reserve();
    await change(made?.podName ?? '', {
      registration_started_at: new Date(),
      stopping_at: new Date(),
      stop_reason: 'pending_timeout',
    });
    expect((await reserve()).map((worker) => worker.madeForJobId)).toEqual([job.job_id]);
  });

  test('does not count a worker that is stopping as supply, but in the caps (A3, C3)', async () => {
    await putPools(testDb.db, examplePools({ pools: [{ maxWorkers: 1 }] }));
    await putJob(testDb.db);
    const [made] = await reserve();
    await change(made?.podName ?? '', {
      stopping_at: new Date(),
      registration_started_at: new Date(),
    });
    expect(await reserve()).toEqual([]);
    expect(first(await keys())).toMatchObject({
      wait_reason: 'at_pool_cap',
      waiting: 1,
      unassigned: 0,
    });
  });

  test('sets an unexplained end against one waiting job until its grace is over (C3)', async () => {
    await putJob(testDb.db);
    await putJob(testDb.db);
    const [made] = await reserve();
    await change(made?.podName ?? '', {
      status: 'completed',
      completed_at: new Date(),
      unexplained_until: new Date(Date.now() + 60_000),
    });
    expect(await reserve()).toEqual([]);
    await change(made?.podName ?? '', { unexplained_until: new Date(Date.now() - 1) });
    expect(await reserve()).toHaveLength(1);
  });

  test('keeps to the entity’s cap, by its present login and without regard to case, in order of age (C4)', async () => {
    await putPools(
      testDb.db,
      examplePools({ entities: { 'Acme-New': { maxWorkers: 2 }, '*': { maxWorkers: 0 } } }),
    );
    await putInstallation(testDb.db, { login: 'acme-NEW' });
    const jobs = [await putJob(testDb.db), await putJob(testDb.db), await putJob(testDb.db)];
    expect((await reserve()).map((worker) => worker.madeForJobId)).toEqual(
      jobs.slice(0, 2).map((job) => job.job_id),
    );
    expect(first(await keys())).toMatchObject({
      wait_reason: 'at_entity_cap',
      waiting: 3,
      unassigned: 2,
      cap: 2,
    });
  });

  test('does not let a pool at its cap use up the room of its entity (C4)', async () => {
    const pools = [{ maxWorkers: 1 }, { name: 'gpu', labels: ['gpu'] }];
    await putPools(testDb.db, examplePools({ pools, entities: { '*': { maxWorkers: 1 } } }));
    const other = { entity_id: 90_000_009, entity_name: 'other' };
    await putJob(testDb.db, other);
    await putJob(testDb.db);
    const gpu = await putJob(testDb.db, { k8s_pool: 'gpu' });
    const reserved = [...(await reserve()), ...(await reserve())];
    expect(reserved.map((worker) => worker.madeForJobId)).toContain(gpu.job_id);
    expect(await reserve()).toEqual([]);
    expect((await workers()).filter((worker) => worker.k8s_pool === 'linux')).toHaveLength(1);
  });

  test('keeps to a cap per repository where runners register there (C4)', async () => {
    await putPools(
      testDb.db,
      examplePools({ pools: [{ registration: 'repository', maxWorkersPerRepository: 1 }] }),
    );
    for (const repo of [1, 1, 2]) await putJob(testDb.db, { repo_id: repo, scope_repo_id: repo });
    expect(await reserve()).toHaveLength(2);
    expect(new Set((await keys()).map((key) => key.wait_reason))).toEqual(
      new Set(['at_repository_cap', null]),
    );
  });

  test.each([
    ['a paused pool', examplePools({ pools: [{ paused: true }] }), 'pool_paused'],
    ['a pool that has gone', examplePools({ pools: [{ name: 'other' }] }), 'pool_unknown'],
    [
      'an entity that is no longer configured',
      examplePools({ entities: { someone: { maxWorkers: 20 } } }),
      'entity_not_allowed',
    ],
    [
      'an entity that is switched off',
      examplePools({ entities: { '*': { maxWorkers: 0 } } }),
      'at_entity_cap',
    ],
    ['a pool at its cap', examplePools({ pools: [{ maxWorkers: 0 }] }), 'at_pool_cap'],
  ])(
    'makes no worker for %s, gives the reason, and drops the reason once it may (C4, C12, P5)',
    async (_name, document, reason) => {
      await putPools(testDb.db, document);
      await putJob(testDb.db);
      expect(await reserve()).toEqual([]);
      expect(first(await keys())).toMatchObject({ wait_reason: reason, waiting: 1 });
      expect(Object.keys(WAIT_REASONS)).toContain(reason);

      await putPools(testDb.db, examplePools());
      expect(await reserve()).toHaveLength(1);
      expect(first(await keys())).toMatchObject({ wait_reason: null, waiting: 1 });
    },
  );

  test('makes no worker before a pools document was loaded (P5)', async () => {
    await testDb.db.deleteFrom('pools_documents').execute();
    await putJob(testDb.db);
    expect(await reserve()).toEqual([]);
    expect(first(await keys()).wait_reason).toBe('pool_unknown');
  });

  test('writes a key’s row only on a change, keeps since when it waits, and removes it at rest (A12)', async () => {
    await putPools(testDb.db, examplePools({ pools: [{ maxWorkers: 0 }] }));
    const job = await putJob(testDb.db);
    await reserve();
    const before = first(await keys());
    await reserve();
    expect(await keys()).toEqual([before]);
    await putJob(testDb.db);
    await reserve();
    expect(first(await keys())).toMatchObject({ waiting: 2, wait_since: before.wait_since });
    await testDb.db.updateTable('jobs').set({ wants_worker: false }).execute();
    await reserve();
    expect(await keys()).toEqual([]);
    expect(job.wants_worker).toBe(true);
  });
});

describe('matchers beside each other', () => {
  test('make one worker for one job, and keep to the caps (C5)', async () => {
    await putPools(testDb.db, examplePools({ pools: [{ maxWorkers: 7 }] }));
    for (let n = 0; n < 12; n += 1) await putJob(testDb.db);
    const passes = await Promise.all(Array.from({ length: 6 }, reserve));
    expect(passes.flat()).toHaveLength(7);
    expect(await workers()).toHaveLength(7);
  });

  test('wait for the first one, in separate statements (C5)', async () => {
    await putJob(testDb.db);
    const second = await testDb.db.transaction().execute(async (trx) => {
      await lockMatching(trx, LIMITS);
      const other = reserve();
      await sql`select 1`.execute(trx);
      expect((await matchIn(trx, GATE, LIMITS)).reserved).toHaveLength(1);
      return { other };
    });
    expect(await second.other).toEqual([]);
  });
});
