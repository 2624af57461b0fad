import { describe, expect, test } from '@jest/globals';
import { BREAKER_RULES } from '@paddock/testing/breaker-rules';
import { examplePools, putJob } from '@paddock/testing/demand-rows';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import {
  type BreakerSubject,
  githubBreaker,
  installationBreaker,
  poolBreaker,
} from '@paddock/db/breakers/breaker-subjects';
import { noteFailure } from '@paddock/db/breakers/note-failure';
import { noteSuccess } from '@paddock/db/breakers/breakers';
import { findReasons, matchAll, matchOnce, useMatchingDatabase } from '../scenes/matching.scene.ts';

const testDb = useMatchingDatabase(examplePools({ pools: [{}, { name: 'gpu', labels: ['gpu'] }] }));

const ACME = 90_000_001;
const reasons = () => findReasons(testDb.db);
const fail = (subject: BreakerSubject, failureClass: string) =>
  noteFailure(
    { db: testDb.db, breakerRules: BREAKER_RULES },
    { subject, failureClass, message: 'no' },
  );

describe('why jobs wait although no breaker is open (P5)', () => {
  test.each([
    [
      installationBreaker(ACME),
      'unauthorized',
      { gpu: 'installation_refused', linux: 'installation_refused' },
    ],
    [githubBreaker, 'unavailable', { gpu: 'github_unavailable', linux: 'github_unavailable' }],
    [poolBreaker('gpu'), 'pod_refused', { gpu: 'pool_failing', linux: null }],
    [installationBreaker(7), 'not_found', { gpu: null, linux: null }],
  ])(
    'after one failure of %j (%s) the keys whose workers wait for their next attempt say so',
    async (subject, failureClass, expected) => {
      for (const pool of ['gpu', 'linux']) await putJob(testDb.db, { k8s_pool: pool });
      await matchAll(testDb.db);
      await fail(subject, failureClass);
      await matchOnce(testDb.db);
      expect(await reasons()).toEqual(expected);
      await noteSuccess(testDb.db, [subject]);
      await matchOnce(testDb.db);
      expect(await reasons()).toEqual({ gpu: null, linux: null });
    },
  );

  test('a worker that was made after the failure, or has a pod, is on its way', async () => {
    await fail(githubBreaker, 'unavailable');
    await putJob(testDb.db);
    await matchAll(testDb.db);
    expect(await reasons()).toEqual({ linux: null });
    await testDb.db.updateTable('workers').set({ pod_uid: 'there' }).execute();
    await fail(githubBreaker, 'unavailable');
    await matchOnce(testDb.db);
    expect(await reasons()).toEqual({ linux: null });
  });

  test('a pod that does not start because of an open failure gives the reason, even if only one more attempt is left', async () => {
    await putJob(testDb.db);
    await matchAll(testDb.db);
    await testDb.db
      .updateTable('workers')
      .set({ pod_uid: 'there', stuck_reason: 'image_pull' })
      .execute();
    for (let failure = 1; failure <= BREAKER_RULES.failures; failure += 1) {
      await fail(poolBreaker('linux'), 'image_pull');
      await matchOnce(testDb.db);
      expect(await reasons()).toEqual({ linux: 'pool_failing' });
    }
    await testDb.db.updateTable('workers').set({ stuck_reason: null }).execute();
    await matchOnce(testDb.db);
    expect(await reasons()).toEqual({ linux: null });
  });

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
