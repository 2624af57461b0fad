import { describe, expect, test } from '@jest/globals';
import { examplePools, putJob } from '@paddock/testing/demand-rows';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { findReasons, matchAll, matchOnce, useMatchingDatabase } from '../scenes/matching.scene.ts';

const testDb = useMatchingDatabase(examplePools({ pools: [{}, { name: 'gpu', labels: ['gpu'] }] }));

const reasons = () => findReasons(testDb.db);

describe('why jobs wait although nothing keeps workers from being made (P5)', () => {
  test('a pod that no node takes gives the reason, although no more are wanted (C4)', async () => {
    for (const pool of ['gpu', 'linux']) await putJob(testDb.db, { k8s_pool: pool });
    await matchAll(testDb.db);
    const placeless = testDb.db.updateTable('workers').where('k8s_pool', '=', 'gpu');
    await placeless
      .set({ pod_uid: 'there', stuck_reason: 'unschedulable', unschedulable_at: minutesAgo(0) })
      .execute();
    await matchOnce(testDb.db);
    expect(await reasons()).toEqual({ gpu: 'no_capacity', linux: null });
    await placeless.set({ stuck_reason: null, unschedulable_at: null }).execute();
    await matchOnce(testDb.db);
    expect(await reasons()).toEqual({ gpu: null, linux: null });
  });

  test('unexplained ends hold jobs back, until they are explained (C3)', async () => {
    await putJob(testDb.db);
    const end = {
      status: 'completed',
      running_at: minutesAgo(5),
      completed_at: minutesAgo(0),
      unexplained_until: minutesAgo(-10),
    } as const;
    await putWorker(testDb.db, end);
    expect(await matchAll(testDb.db)).toBe(0);
    expect(await reasons()).toEqual({ linux: 'unexplained_ends' });
    await putJob(testDb.db);
    expect(await matchAll(testDb.db)).toBe(1);
    expect(await reasons()).toEqual({ linux: 'unexplained_ends' });
    await testDb.db.updateTable('workers').set({ unexplained_until: null }).execute();
    expect(await matchAll(testDb.db)).toBe(1);
    expect(await reasons()).toEqual({ linux: null });
  });
});
