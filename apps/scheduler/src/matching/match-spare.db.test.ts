import { describe, expect, test } from '@jest/globals';
import { examplePools, putJob, putPools } from '@paddock/testing/demand-rows';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import type { InsertObject } from 'kysely';
import type { MatchingSettings } from '@paddock/domain/matching/matching-settings';
import { matchOnce, useMatchingDatabase } from '../scenes/matching.scene.ts';
import type { Database } from '@paddock/db/schema/tables';

const testDb = useMatchingDatabase(examplePools());

type Given = Partial<InsertObject<Database, 'workers'>>;

/** A worker whose runner was registered `minutes` ago. */
async function putRegistered(minutes: number, given: Given = {}): Promise<string> {
  const at = minutesAgo(minutes);
  const { pod_name: name } = await putWorker(testDb.db, {
    status: 'running',
    created_at: at,
    registration_started_at: at,
    registered_at: at,
    running_at: at,
    pod_uid: crypto.randomUUID(),
    ...given,
  });
  return name;
}

const workers = () =>
  testDb.db.selectFrom('workers').selectAll().orderBy('created_at').orderBy('pod_name').execute();
const stopReasons = async () =>
  Object.fromEntries((await workers()).map((worker) => [worker.pod_name, worker.stop_reason]));
const stopSpare = async (options: Partial<MatchingSettings> = {}) =>
  (await matchOnce(testDb.db, options)).stopped.map(({ podName }) => podName);
const endDemand = () => testDb.db.updateTable('jobs').set({ wants_worker: false }).execute();

const putRetired = async (given: Given = {}) => {
  const name = await putRegistered(10, given);
  expect(await stopSpare()).toEqual([name]);
  return name;
};

describe('stopping spare workers', () => {
  test('registered workers beyond the waiting jobs, the oldest first, and each once (C3)', async () => {
    const oldest = await putRegistered(30);
    const middle = await putRegistered(20);
    const newest = await putRegistered(10);
    await putJob(testDb.db);
    expect(new Set(await stopSpare())).toEqual(new Set([oldest, middle]));
    expect(await stopReasons()).toEqual({
      [oldest]: 'surplus',
      [middle]: 'surplus',
      [newest]: null,
    });
    expect((await matchOnce(testDb.db)).stopped).toEqual([]);
    expect(
      (await workers())
        .filter((worker) => worker.stopping_at !== null)
        .map((worker) => worker.status),
    ).toEqual(['running', 'running']);
  });

  test('go after unregistered reservations, and among these the newest go first (C3)', async () => {
    const registered = await putRegistered(10);
    const reserved = [
      await putWorker(testDb.db, { created_at: minutesAgo(2) }),
      await putWorker(testDb.db),
    ];
    await putJob(testDb.db);
    const { ended, stopped } = await matchOnce(testDb.db);
    expect(new Set(ended)).toEqual(new Set(reserved.map((worker) => worker.pod_name)));
    expect(stopped).toEqual([]);
    await endDemand();
    expect(await stopSpare()).toEqual([registered]);
  });

  test('never with a job, stopping, being registered, or serving an entity’s other key (P2)', async () => {
    await putRegistered(10, { assigned_at: minutesAgo(1) });
    await putRegistered(10, {
      stopping_at: minutesAgo(1),
      stop_reason: 'idle',
      deregistration_started_at: minutesAgo(1),
    });
    await putWorker(testDb.db, { registration_started_at: minutesAgo(1) });
    await putRegistered(10, { k8s_pool: 'gpu' });
    await putPools(testDb.db, examplePools({ pools: [{}, { name: 'gpu', labels: ['gpu'] }] }));
    await putJob(testDb.db, { k8s_pool: 'gpu' });
    expect(await matchOnce(testDb.db)).toMatchObject({ stopped: [], ended: [] });
  });

  test('only once it has been registered for a while: the next job of its key may be near (C3)', async () => {
    const old = await putRegistered(2);
    await putRegistered(0.2);
    expect(await stopSpare({ surplusAfterMs: 60_000 })).toEqual([old]);
  });

  test('go at once, at any age, when another key wants their place under a cap (C3, C4)', async () => {
    await putPools(
      testDb.db,
      examplePools({
        pools: [{}, { name: 'gpu', labels: ['gpu'] }],
        entities: { '*': { maxWorkers: 2 } },
      }),
    );
    const idle = [await putRegistered(0.2), await putRegistered(0.1)];
    await putJob(testDb.db, { k8s_pool: 'gpu' });
    const options = { surplusAfterMs: 600_000 };
    expect(await matchOnce(testDb.db, options)).toMatchObject({
      stopped: [{ podName: idle[0] }],
      reserved: [],
      lacking: 1,
    });
    // It counts until it has ended, so the job waits, and no other worker has to go.
    expect(await matchOnce(testDb.db, options)).toMatchObject({
      stopped: [],
      reserved: [],
      lacking: 1,
    });
    await testDb.db
      .updateTable('workers')
      .set({ status: 'failed', completed_at: new Date() })
      .where('stop_reason', '=', 'surplus')
      .execute();
    expect((await matchOnce(testDb.db, options)).reserved).toHaveLength(1);
  });

  test('are passed over while another transaction writes them, without waiting (C5)', async () => {
    const name = await putRegistered(10);
    await testDb.db.transaction().execute(async (binding) => {
      await binding
        .updateTable('workers')
        .set({ assigned_at: new Date() })
        .where('pod_name', '=', name)
        .execute();
      expect((await matchOnce(testDb.db)).stopped).toEqual([]);
    });
    expect((await matchOnce(testDb.db)).stopped).toEqual([]);
  });
});

describe('taking workers back', () => {
  test('a surplus worker that is to end serves the next job: none is made beside it (C3, P3)', async () => {
    const name = await putRetired();
    await putJob(testDb.db);
    expect(await matchOnce(testDb.db)).toMatchObject({
      takenBack: [{ podName: name, hasPod: true }],
      reserved: [],
      lacking: 0,
    });
    expect(await stopReasons()).toEqual({ [name]: null });
    expect((await workers())[0]?.stopping_at).toBeNull();
  });

  test('takes back as many as are lacking, the newest first, and makes the rest (C3)', async () => {
    const names = [await putRegistered(10), await putRegistered(9)];
    await matchOnce(testDb.db);
    await putJob(testDb.db);
    expect((await matchOnce(testDb.db)).takenBack.map(({ podName }) => podName)).toEqual([
      names[1],
    ]);
    await putJob(testDb.db);
    await putJob(testDb.db);
    expect(await matchOnce(testDb.db)).toMatchObject({
      takenBack: [{ podName: names[0] }],
      reserved: [{}],
    });
  });

  test('not once its deregistration has begun, and not one that ends for another reason (P1)', async () => {
    await putRetired();
    await testDb.db.updateTable('workers').set({ deregistration_started_at: new Date() }).execute();
    await putRegistered(10, { stopping_at: minutesAgo(1), stop_reason: 'not_registered' });
    await putJob(testDb.db);
    expect(await matchOnce(testDb.db)).toMatchObject({ takenBack: [], reserved: [{}] });
  });

  test('without a pod its making has to go on (P1)', async () => {
    await putRetired({ status: 'pending', pod_uid: null, running_at: null });
    await putJob(testDb.db);
    expect((await matchOnce(testDb.db)).takenBack).toMatchObject([{ hasPod: false }]);
  });
});
