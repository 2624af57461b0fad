import { beforeEach, describe, expect, test } from '@jest/globals';
import { noteKeyFailure, noteKeySuccess } from '@paddock/db/workers/failing-keys';
import { USUAL_FAILURE_RULES } from '@paddock/domain/matching/failure-classes';
import { examplePools, putJob } from '@paddock/testing/demand-rows';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { sql } from 'kysely';
import { matchAll, matchOnce, useMatchingDatabase } from '../scenes/matching.scene.ts';

const testDb = useMatchingDatabase(examplePools({ pools: [{}, { name: 'gpu', labels: ['gpu'] }] }));

const [ACME, GLOBEX, HOOLI, INITECH] = [1, 2, 3, 4] as const;

const putJobs = async (count: number, entityId: number, pool = 'linux') => {
  for (let n = 0; n < count; n += 1)
    await putJob(testDb.db, {
      entity_id: entityId,
      entity_name: `account-${entityId}`,
      k8s_pool: pool,
    });
};
const note = (podName: string, failureClass: string) =>
  noteKeyFailure(testDb.db, { podName, failureClass, message: 'no' }, USUAL_FAILURE_RULES);
/** As many failures as pause the key of the entity. */
const pause = async (entityId: number, pool = 'linux', failureClass = 'exit_code') => {
  for (let n = 0; n < 3; n += 1) {
    const ended = { status: 'failed', completed_at: new Date() } as const;
    const of = { entity_id: entityId, entity_name: `account-${entityId}`, k8s_pool: pool };
    await note((await putWorker(testDb.db, { ...of, ...ended })).pod_name, failureClass);
  }
};
const endPauses = () =>
  testDb.db
    .updateTable('demand_keys')
    .set({ paused_until: minutesAgo(1) })
    .where('paused_until', 'is not', null)
    .execute();
/** Of each key, by entity and pool: its live workers, and why there are no more. */
const keys = async () => {
  const rows = await testDb.db
    .selectFrom('demand_keys')
    .selectAll()
    .where('waiting', '>', 0)
    .orderBy('entity_id')
    .orderBy('k8s_pool')
    .execute();
  return rows.map((key) => [key.entity_id, key.k8s_pool, key.unassigned, key.wait_reason]);
};
const liveOf = async (entityId: number): Promise<string[]> => {
  const rows = await testDb.db
    .selectFrom('workers')
    .select('pod_name')
    .where('entity_id', '=', entityId)
    .where('status', 'in', ['pending', 'running'])
    .orderBy('created_at')
    .execute();
  return rows.map((row) => row.pod_name);
};
const set = (podName: string | undefined, values: object) =>
  testDb.db
    .updateTable('workers')
    .set(values)
    .where('pod_name', '=', podName ?? '')
    .execute();

describe('a key whose workers fail (C11, P6)', () => {
  beforeEach(async () => {
    for (const entityId of [ACME, GLOBEX])
      for (const pool of ['gpu', 'linux']) await putJobs(3, entityId, pool);
  });

  test('gets no worker while it is paused, and every other key as many as it lacks', async () => {
    await pause(ACME);
    await matchAll(testDb.db);
    expect(await keys()).toEqual([
      [ACME, 'gpu', 3, null],
      [ACME, 'linux', 0, 'workers_failing'],
      [GLOBEX, 'gpu', 3, null],
      [GLOBEX, 'linux', 3, null],
    ]);
  });

  test('gives back what was reserved for it, and nothing of others', async () => {
    expect(await matchAll(testDb.db)).toBe(12);
    const before = await liveOf(ACME);
    await pause(ACME, 'gpu');
    expect((await matchOnce(testDb.db)).ended).toHaveLength(3);
    expect(await liveOf(ACME)).toHaveLength(before.length - 3);
    expect((await matchOnce(testDb.db)).ended).toEqual([]);
  });

  test('has one worker after its pause, whose row is the trial until it ends or gets a job', async () => {
    await pause(ACME);
    await pause(ACME, 'gpu');
    await endPauses();
    await matchAll(testDb.db);
    expect((await keys()).slice(0, 2)).toEqual([
      [ACME, 'gpu', 1, 'workers_failing'],
      [ACME, 'linux', 1, 'workers_failing'],
    ]);
    // Whoever took its task may have died hours ago: there is no other clock.
    await testDb.db
      .updateTable('workers')
      .set({ created_at: minutesAgo(300) })
      .execute();
    expect(await matchAll(testDb.db)).toBe(0);
    const [trial = ''] = await liveOf(ACME);
    await set(trial, { status: 'failed', completed_at: new Date() });
    expect(await matchAll(testDb.db)).toBe(1);
  });

  test.each([
    [
      'tries one beside a pod that waits for a node',
      'pod_refused',
      { registered_at: minutesAgo(9), pod_uid: 'made' },
      1,
    ],
    [
      'tries one registration beside another that it has',
      'conflict',
      { registered_at: minutesAgo(9) },
      1,
    ],
    [
      'tries one start beside a runner that is idle',
      'image_pull',
      {
        status: 'running',
        registered_at: minutesAgo(9),
        pod_uid: 'made',
        running_at: minutesAgo(8),
      },
      1,
    ],
    [
      'tries none beside a pod that may still fail to start',
      'image_pull',
      { registered_at: minutesAgo(9), pod_uid: 'made' },
      0,
    ],
    [
      'tries none beside a worker whose pod is refused',
      'pod_refused',
      { registration_started_at: minutesAgo(9), registered_at: minutesAgo(9) },
      0,
    ],
  ] as const)('%s after its pause (%s) (C11, P4)', async (_name, failureClass, row, made) => {
    await putWorker(testDb.db, {
      entity_id: ACME,
      entity_name: `account-${ACME}`,
      k8s_pool: 'linux',
      ...row,
    });
    await pause(ACME, 'linux', failureClass);
    await matchAll(testDb.db);
    expect((await keys())[1]).toEqual([ACME, 'linux', 1, 'workers_failing']);
    await endPauses();
    expect(await matchAll(testDb.db)).toBe(made);
  });

  test('is as any other once its trial has proved the failures over', async () => {
    await pause(ACME, 'linux', 'image_pull');
    await endPauses();
    await matchAll(testDb.db);
    const trial = await testDb.db
      .selectFrom('workers')
      .select('pod_name')
      .where('entity_id', '=', ACME)
      .where('k8s_pool', '=', 'linux')
      .where('status', '=', 'pending')
      .executeTakeFirstOrThrow();
    await set(trial.pod_name, { registered_at: sql`now()` });
    await noteKeySuccess(testDb.db, trial.pod_name, 'started');
    expect(await matchAll(testDb.db)).toBe(2);
    expect((await keys())[1]).toEqual([ACME, 'linux', 3, null]);
  });

  test('says so after its first failure, and counts on without waiting jobs (P5)', async () => {
    await matchAll(testDb.db);
    const [worker = ''] = await liveOf(GLOBEX);
    await note(worker, 'exit_code');
    await matchOnce(testDb.db);
    expect((await keys()).map((key) => key[3])).toEqual([null, null, 'workers_failing', null]);
    await testDb.db.updateTable('jobs').set({ wants_worker: false }).execute();
    await matchOnce(testDb.db);
    expect(await keys()).toEqual([]);
    const kept = await testDb.db
      .selectFrom('demand_keys')
      .select(['failures', 'wait_reason'])
      .execute();
    expect(kept).toEqual([{ failures: 1, wait_reason: null }]);
    await testDb.db
      .updateTable('demand_keys')
      .set({ failed_at: minutesAgo(25 * 60) })
      .execute();
    await putJobs(1, ACME);
    await matchOnce(testDb.db);
    expect(await testDb.db.selectFrom('demand_keys').select('entity_id').execute()).toEqual([
      { entity_id: ACME },
    ]);
  });
});

describe('a pool that fails for two entities (P6)', () => {
  beforeEach(async () => {
    await pause(ACME);
    await pause(GLOBEX);
    await endPauses();
  });

  test('makes a third one careful, never idle: one worker first, and the rest once it runs', async () => {
    await putJobs(4, HOOLI);
    expect(await matchAll(testDb.db)).toBe(1);
    expect(await keys()).toEqual([[HOOLI, 'linux', 1, 'pool_suspected']]);
    const [first] = await liveOf(HOOLI);
    await set(first, { status: 'running', running_at: sql`now()` });
    expect(await matchAll(testDb.db)).toBe(3);
    expect(await keys()).toEqual([[HOOLI, 'linux', 4, null]]);
  });

  test('lets go on after the first one, even if its node’s clock is behind', async () => {
    await putJobs(4, HOOLI);
    await matchAll(testDb.db);
    const [first] = await liveOf(HOOLI);
    await set(first, { status: 'running', registered_at: sql`now()`, running_at: minutesAgo(1) });
    expect(await matchAll(testDb.db)).toBe(3);
  });

  test('lets go on at once who has a worker there that began to run since', async () => {
    await putWorker(testDb.db, {
      entity_id: HOOLI,
      status: 'running',
      running_at: sql`now()`,
      assigned_at: sql`now()`,
    });
    await putJobs(4, HOOLI);
    expect(await matchAll(testDb.db)).toBe(4);
  });

  test('makes nobody careful in another pool, nor where one of the two has succeeded', async () => {
    await putJobs(4, HOOLI, 'gpu');
    expect(await matchAll(testDb.db)).toBe(4);
    const { pod_name: served } = await putWorker(testDb.db, { entity_id: ACME });
    await sql`update demand_keys set failures = 0, pauses = 0, failure_class = null where entity_id = ${ACME}`.execute(
      testDb.db,
    );
    await set(served, { status: 'completed', completed_at: new Date() });
    await putJobs(4, INITECH);
    expect(await matchAll(testDb.db)).toBe(4);
  });

  test('gives back no reservation of others for it', async () => {
    await sql`update demand_keys set pauses = 0`.execute(testDb.db);
    await putJobs(4, HOOLI);
    expect(await matchAll(testDb.db)).toBe(4);
    await sql`update demand_keys set pauses = 1 where entity_id <> ${HOOLI}`.execute(testDb.db);
    expect((await matchOnce(testDb.db)).ended).toEqual([]);
  });
});
