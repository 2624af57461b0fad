import { describe, expect, test } from '@jest/globals';
import { examplePools, putJob, putPools } from '@paddock/testing/demand-rows';
import { putWorker } from '@paddock/testing/worker-rows';
import { matchOnce, useMatchingDatabase, findReasons } from '../scenes/matching.scene.ts';
import { liftSwitch, setSwitch } from '@paddock/db/switches';

const GLOBEX = { entity_id: 90_000_002, entity_name: 'globex' };

const linux = 'pool:linux';

const acme = 'entity:90000001';

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
