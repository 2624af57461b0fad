import { describe, expect, test } from '@jest/globals';
import { putJob } from '@paddock/testing/demand-rows';
import { minutesAgo } from '@paddock/testing/worker-rows';
import { matchAll, matchOnce } from '../scenes/matching.scene.ts';
import { ACME, useWarmDatabase } from '../scenes/warm.scene.ts';

const testDb = useWarmDatabase();
const { install, keep, workers, run, end } = testDb;

describe('warm workers and caps', () => {
  const GPU = { name: 'gpu', labels: ['gpu'] };

  test('fill the room of a cap that jobs leave, and make room for the next job (C4, C10)', async () => {
    await install('acme', ACME);
    await keep('acme', 5, { pools: [{}, GPU], entities: { '*': { maxWorkers: 2 } } });
    await putJob(testDb.db, { k8s_pool: 'gpu' });
    expect(await matchAll(testDb.db)).toBe(2);
    await run();
    await putJob(testDb.db, { k8s_pool: 'gpu' });
    const { stopped, reserved } = await matchOnce(testDb.db);
    expect(reserved).toEqual([]);
    expect(stopped).toHaveLength(1);
    await end(stopped[0]?.podName);
    expect(await matchOnce(testDb.db)).toMatchObject({ reserved: [{ pool: 'gpu' }], stopped: [] });
  });

  test('give back reservations first, in the pass that holds the job back (C10)', async () => {
    await install('acme', ACME);
    await keep('acme', 1, { pools: [{}, GPU], entities: { '*': { maxWorkers: 1 } } });
    await matchAll(testDb.db);
    await putJob(testDb.db, { k8s_pool: 'gpu' });
    expect((await matchOnce(testDb.db)).ended).toHaveLength(1);
    expect((await matchOnce(testDb.db)).reserved).toMatchObject([{ pool: 'gpu' }]);
  });

  test('stay where their place would not help the waiting job, whose pool is full as well: no worker comes and goes (C10)', async () => {
    await install('acme', ACME);
    await keep('acme', 1, {
      pools: [{}, { ...GPU, maxWorkers: 1 }],
      entities: { '*': { maxWorkers: 2 } },
    });
    await putJob(testDb.db, { k8s_pool: 'gpu' });
    await matchAll(testDb.db);
    await run();
    await putJob(testDb.db, { k8s_pool: 'gpu' });
    for (let pass = 0; pass < 3; pass += 1)
      expect(await matchOnce(testDb.db)).toMatchObject({
        reserved: [],
        stopped: [],
        ended: [],
        lacking: 1,
      });
  });

  test('are not made in a pool for which another entity’s job waits (C10)', async () => {
    await install('acme', ACME);
    await keep('acme', 1, { pools: [{ maxWorkers: 1 }] });
    const other = { entity_id: 7, entity_name: 'other' };
    await putJob(testDb.db, other);
    await putJob(testDb.db, other);
    expect((await matchOnce(testDb.db)).reserved).toMatchObject([
      { madeForJobId: expect.any(Number) },
    ]);
    await end((await workers())[0]?.pod_name);
    expect((await matchOnce(testDb.db)).reserved).toMatchObject([
      { madeForJobId: expect.any(Number) },
    ]);
  });

  test('are replaced when they come of age, a tenth at a time and one at least (C10)', async () => {
    await install('acme', ACME);
    await keep('acme', 11);
    await matchAll(testDb.db);
    await run(719);
    expect((await matchOnce(testDb.db)).stopped).toEqual([]);
    await testDb.db
      .updateTable('workers')
      .set({ registered_at: minutesAgo(721) })
      .execute();
    const { stopped, reserved } = await matchOnce(testDb.db);
    expect({ stopped: stopped.length, reserved: reserved.length }).toEqual({
      stopped: 2,
      reserved: 2,
    });
    expect(new Set((await workers()).map((worker) => worker.stop_reason))).toEqual(
      new Set(['warm_expired', null]),
    );
    expect(await matchOnce(testDb.db)).toMatchObject({ stopped: [], reserved: [] });
    for (const { podName } of stopped) await end(podName);
    expect((await matchOnce(testDb.db)).stopped).toHaveLength(2);
    expect(
      (await workers()).filter(
        ({ status, stopping_at: at }) => ['pending', 'running'].includes(status) && at === null,
      ),
    ).toHaveLength(11);
  });
});
