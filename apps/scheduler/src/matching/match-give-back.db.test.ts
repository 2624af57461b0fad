import { describe, expect, test } from '@jest/globals';
import { lockPlanned } from '@paddock/db/matching/matching-lock';
import { examplePools, putJob, putPools } from '@paddock/testing/demand-rows';
import { matchOnce, useMatchingDatabase } from '../scenes/matching.scene.ts';

const testDb = useMatchingDatabase(examplePools());

const match = () => matchOnce(testDb.db);
const workers = () =>
  testDb.db.selectFrom('workers').selectAll().orderBy('created_at').orderBy('pod_name').execute();

describe('giving reservations back', () => {
  test('ends reservations whose demand has gone, and only as many (C3, P3)', async () => {
    const jobs = [await putJob(testDb.db), await putJob(testDb.db), await putJob(testDb.db)];
    await match();
    await testDb.db
      .updateTable('jobs')
      .set({ wants_worker: false })
      .where('job_id', '=', jobs[0]?.job_id ?? 0)
      .execute();
    expect((await match()).ended).toHaveLength(1);
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
    await match();
    await testDb.db.updateTable('workers').set({ registration_started_at: new Date() }).execute();
    await testDb.db
      .updateTable('jobs')
      .set({ wants_worker: false })
      .where('job_id', '=', job.job_id)
      .execute();
    expect((await match()).ended).toEqual([]);
  });

  test('passes over a row that provisioning is just now marking (C5)', async () => {
    await putJob(testDb.db);
    await match();
    await testDb.db.updateTable('jobs').set({ wants_worker: false }).execute();
    await testDb.db.transaction().execute(async (marking) => {
      await marking.updateTable('workers').set({ registration_started_at: new Date() }).execute();
      expect((await match()).ended).toEqual([]);
    });
    // Or has marked since it was found.
    const names = (await workers()).map((worker) => worker.pod_name);
    const plan = { giveBack: names, takeBack: [], warm: { mark: [], renew: [], make: [] } };
    expect(await testDb.db.transaction().execute((trx) => lockPlanned(trx, plan))).toEqual(names);
    expect((await workers())[0]?.status).toBe('pending');
  });

  test.each([
    ['the pool is paused', examplePools({ pools: [{ paused: true }] }), 2],
    ['the pool has gone', examplePools({ pools: [{ name: 'other' }] }), 2],
    ['the pool’s cap was lowered', examplePools({ pools: [{ maxWorkers: 1 }] }), 1],
    ['the entity’s cap was lowered', examplePools({ entities: { ACME: { maxWorkers: 1 } } }), 1],
  ])(
    'gives back unregistered reservations when %s (C3, C12)',
    async (_name, document, expected) => {
      await putJob(testDb.db);
      await putJob(testDb.db);
      await match();
      await putPools(testDb.db, document);
      const { ended, reserved } = await match();
      expect(ended).toHaveLength(expected);
      expect(reserved).toEqual([]);
    },
  );
});
