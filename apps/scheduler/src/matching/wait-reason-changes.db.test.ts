import { describe, expect, test } from '@jest/globals';
import { liftSwitch, setSwitch } from '@paddock/db/switches';
import { examplePools, putJob, putPools } from '@paddock/testing/demand-rows';
import { matchOnce, useMatchingDatabase } from '../scenes/matching.scene.ts';

const testDb = useMatchingDatabase(examplePools({ pools: [{ maxWorkers: 0 }] }));

const changes = () =>
  testDb.db.selectFrom('wait_reason_changes').selectAll().orderBy('until').execute();
const sinceOf = async () =>
  (await testDb.db.selectFrom('demand_keys').select('wait_since').executeTakeFirst())?.wait_since;

describe('the reasons that jobs waited for (P5)', () => {
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

  test('end with the last waiting job of the key', async () => {
    await putJob(testDb.db);
    await matchOnce(testDb.db);
    const since = await sinceOf();
    await testDb.db.updateTable('jobs').set({ wants_worker: false }).execute();
    await matchOnce(testDb.db);
    expect(await changes()).toEqual([expect.objectContaining({ reason: 'at_pool_cap', since })]);
  });
});
