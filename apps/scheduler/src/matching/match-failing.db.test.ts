import { beforeEach, describe, expect, test } from '@jest/globals';
import { noteKeyFailure } from '@paddock/db/workers/failing-keys';
import { USUAL_FAILURE_RULES } from '@paddock/domain/matching/failure-classes';
import { examplePools, putJob } from '@paddock/testing/demand-rows';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { sql } from 'kysely';
import { matchAll, matchOnce, useMatchingDatabase, findReasons } from '../scenes/matching.scene.ts';

const testDb = useMatchingDatabase(examplePools({ pools: [{}, { name: 'gpu', labels: ['gpu'] }] }));

const [ACME, GLOBEX, HOOLI] = [1, 2, 3] as const;

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

const unassigned = () =>
  testDb.db
    .updateTable('workers')
    .where('status', 'in', ['pending', 'running'])
    .where('assigned_at', 'is', null);

/** GitHub calls all jobs queued. */
const lookUpJobs = () =>
  testDb.db
    .updateTable('jobs')
    .set({ looked_up_at: minutesAgo(0) })
    .execute();

/**
 * Does the work of the check of idle workers: those past their deadline while a job of their key
 * waits, confirmed by GitHub.
 */
const stopIdle = async () => {
  await lookUpJobs();
  await unassigned()
    .set({ stopping_at: minutesAgo(0), stop_reason: 'not_assigned' })
    .where('stopping_at', 'is', null)
    .execute();
};

const endStopped = () =>
  unassigned()
    .set({ status: 'failed', completed_at: new Date() })
    .where('stopping_at', 'is not', null)
    .execute();

const endUnservedPauses = () =>
  testDb.db
    .updateTable('demand_keys')
    .set({ paused_until: minutesAgo(1) })
    .execute();

const pauses = async () => {
  const { rows } = await sql<{ minutes: number | null }>`
    select round(extract(epoch from paused_until - failed_at) / 60)::integer as minutes from demand_keys where failures > 0`.execute(
    testDb.db,
  );
  return rows;
};

/** All workers are idle past their deadline, and end; then a pass. */
async function goUnserved() {
  await stopIdle();
  const matched = await matchOnce(testDb.db);
  await endStopped();
  return matched;
}

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
});

describe('a key whose idle workers GitHub leaves without jobs', () => {
  beforeEach(async () => {
    await putJob(testDb.db);
    await putJob(testDb.db);
    await matchOnce(testDb.db);
  });

  test('is paused when a replacement also gets no job, has the reason, and is reported once (C11, P5)', async () => {
    await goUnserved();
    expect(await goUnserved()).toMatchObject({
      reserved: [],
      lacking: 2,
      unserved: [{ pool: 'linux', entityName: 'acme', pauses: 1 }],
    });
    expect(await findReasons(testDb.db)).toEqual({ linux: 'github_does_not_assign' });
    expect(await matchOnce(testDb.db)).toMatchObject({ reserved: [], unserved: [] });
  });

  test('is not blamed twice for workers of one making that are found idle one after the other (C11)', async () => {
    const workers = await testDb.db.selectFrom('workers').select('pod_name').execute();
    await lookUpJobs();
    for (const { pod_name: name } of workers) {
      await unassigned()
        .set({ stopping_at: minutesAgo(0), stop_reason: 'not_assigned' })
        .where('pod_name', '=', name)
        .execute();
      expect(await matchOnce(testDb.db)).toMatchObject({ reserved: [{}], unserved: [] });
    }
  });

  test('gets one worker on trial after each pause, and the pauses double from ten minutes up to two hours (C11)', async () => {
    await goUnserved();
    await goUnserved();
    const lengths = [(await pauses())[0]?.minutes];
    for (let round = 0; round < 5; round += 1) {
      expect((await matchOnce(testDb.db)).reserved).toEqual([]);
      await endUnservedPauses();
      expect((await matchOnce(testDb.db)).reserved).toHaveLength(1);
      expect((await matchOnce(testDb.db)).reserved).toEqual([]);
      expect(await findReasons(testDb.db)).toEqual({ linux: 'github_does_not_assign' });
      await goUnserved();
      lengths.push((await pauses())[0]?.minutes);
    }
    expect(lengths).toEqual([10, 20, 40, 80, 120, 120]);
  });

  test.each([
    ['before GitHub has said that a job is still queued', { looked_up_at: null }],
    ['by GitHub’s answer from long before the stop', { looked_up_at: minutesAgo(6) }],
    ['while GitHub does not know the jobs', { seen_gone_at: minutesAgo(0) }],
    ['for jobs that came after its workers had been registered', { created_at: minutesAgo(-1) }],
  ])('is not blamed %s (C11, E4)', async (_name, jobs) => {
    for (let round = 0; round < 3; round += 1) {
      await stopIdle();
      await testDb.db.updateTable('jobs').set(jobs).execute();
      expect(await matchOnce(testDb.db)).toMatchObject({ reserved: [{}, {}], unserved: [] });
      await endStopped();
    }
  });
});
