import { describe, expect, test } from '@jest/globals';
import { examplePools, putJob, putPools } from '@paddock/testing/demand-rows';
import { sql, type Updateable } from 'kysely';
import { LIMITS, matchOnce, useMatchingDatabase } from '../scenes/matching.scene.ts';
import { GATE } from '../scenes/settings.scene.ts';
import { lockMatching } from '@paddock/db/matching/matching-lock';
import { matchIn } from './match.ts';
import type { Database } from '@paddock/db/schema/tables';
import { lockPlanned } from '@paddock/db/matching/matching-lock';
import { currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import { replaceWaitingJobs } from '@paddock/db/jobs/reconsider-jobs';

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

const matchAgain = () => matchOnce(testDb.db);

const LINUX = { name: 'linux', labels: ['linux'] };

/** Puts pools in force; jobs that wait go where they are served now. */
async function configure(...pools: readonly { name: string; labels: string[] }[]): Promise<void> {
  await putPools(testDb.db, examplePools({ pools }));
  const current = await currentPoolsDocument(testDb.db);
  if (current === undefined) throw new Error('There is no pools document.');
  await replaceWaitingJobs(testDb.db, current);
}

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

  test('never writes to a job (C4)', async () => {
    const job = await putJob(testDb.db);
    await reserve();
    expect(await testDb.db.selectFrom('jobs').selectAll().executeTakeFirst()).toEqual(job);
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

describe('giving reservations back', () => {
  test('ends reservations whose demand has gone, and only as many (C3, P3)', async () => {
    const jobs = [await putJob(testDb.db), await putJob(testDb.db), await putJob(testDb.db)];
    await matchAgain();
    await testDb.db
      .updateTable('jobs')
      .set({ wants_worker: false })
      .where('job_id', '=', jobs[0]?.job_id ?? 0)
      .execute();
    expect((await matchAgain()).ended).toHaveLength(1);
    const ended = (await workers()).filter((worker) => worker.status === 'failed');
    expect(ended).toHaveLength(1);
    expect(ended[0]).toMatchObject({
      stop_reason: 'unwanted',
      failure_info: { version: 1, message: 'no longer wanted' },
    });
    expect(ended[0]?.completed_at).not.toBeNull();
  });

  test('leaves a worker whose registration has begun (P2)', async () => {
    const job = await putJob(testDb.db);
    await matchAgain();
    await testDb.db.updateTable('workers').set({ registration_started_at: new Date() }).execute();
    await testDb.db
      .updateTable('jobs')
      .set({ wants_worker: false })
      .where('job_id', '=', job.job_id)
      .execute();
    expect((await matchAgain()).ended).toEqual([]);
  });

  test('passes over a row that provisioning is just now marking (C5)', async () => {
    await putJob(testDb.db);
    await matchAgain();
    await testDb.db.updateTable('jobs').set({ wants_worker: false }).execute();
    await testDb.db.transaction().execute(async (marking) => {
      await marking.updateTable('workers').set({ registration_started_at: new Date() }).execute();
      expect((await matchAgain()).ended).toEqual([]);
    });
    // Or has marked since it was found.
    const names = (await workers()).map((worker) => worker.pod_name);
    const plan = { giveBack: names, takeBack: [], warm: { mark: [], renew: [], make: [] } };
    expect(await testDb.db.transaction().execute((trx) => lockPlanned(trx, plan))).toEqual(names);
    expect((await workers())[0]?.status).toBe('pending');
  });

  test.each([
    ['the pool is paused', examplePools({ pools: [{ paused: true }] }), 2],
    ['the pool’s cap was lowered', examplePools({ pools: [{ maxWorkers: 1 }] }), 1],
  ])(
    'gives back unregistered reservations when %s (C3, C12)',
    async (_name, document, expected) => {
      await putJob(testDb.db);
      await putJob(testDb.db);
      await matchAgain();
      await putPools(testDb.db, document);
      const { ended, reserved } = await matchAgain();
      expect(ended).toHaveLength(expected);
      expect(reserved).toEqual([]);
    },
  );
});

describe('a job that waits while the pools change (B4)', () => {
  test('gets its worker in the pool that serves it now; the reservation in the old one goes back (C3)', async () => {
    await configure(LINUX);
    const { job_id: job } = await putJob(testDb.db);
    await matchOnce(testDb.db);
    await configure({ ...LINUX, labels: ['linux', 'x64'] }, { name: 'better', labels: ['linux'] });
    const { ended, reserved } = await matchOnce(testDb.db);
    expect(ended).toHaveLength(1);
    expect(reserved).toMatchObject([{ pool: 'better', madeForJobId: job }]);
  });
});
