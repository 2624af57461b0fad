import { beforeEach, describe, expect, test } from '@jest/globals';
import { bindWorkers } from '@paddock/db/workers/bind-workers';
import { examplePools, putJob } from '@paddock/testing/demand-rows';
import { minutesAgo } from '@paddock/testing/worker-rows';
import { sql } from 'kysely';
import { findReasons, matchOnce, useMatchingDatabase } from '../scenes/matching.scene.ts';

const testDb = useMatchingDatabase(examplePools());

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
const endPauses = () =>
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

describe('a key whose idle workers GitHub leaves without jobs', () => {
  beforeEach(async () => {
    await putJob(testDb.db);
    await putJob(testDb.db);
    await matchOnce(testDb.db);
  });

  test('has its workers replaced once, all of them (C11)', async () => {
    expect(await goUnserved()).toMatchObject({ reserved: [{}, {}], unserved: [] });
    expect(await findReasons(testDb.db)).toEqual({ linux: null });
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
      await endPauses();
      expect((await matchOnce(testDb.db)).reserved).toHaveLength(1);
      expect((await matchOnce(testDb.db)).reserved).toEqual([]);
      expect(await findReasons(testDb.db)).toEqual({ linux: 'github_does_not_assign' });
      await goUnserved();
      lengths.push((await pauses())[0]?.minutes);
    }
    expect(lengths).toEqual([10, 20, 40, 80, 120, 120]);
  });

  test('is as any other once a worker of it has a job (C11)', async () => {
    await goUnserved();
    await goUnserved();
    await endPauses();
    await matchOnce(testDb.db);
    const [worker] = await testDb.db
      .selectFrom('workers')
      .select('pod_name')
      .where('status', '=', 'pending')
      .execute();
    const binding = { worker: worker?.pod_name ?? '', jobId: 1 };
    await testDb.db.transaction().execute((trx) => bindWorkers(trx, [binding]));
    expect((await matchOnce(testDb.db)).reserved).toHaveLength(2);
    expect(await pauses()).toEqual([]);
    expect(await findReasons(testDb.db)).toEqual({ linux: null });
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

  test('holds back no other key of the entity or the pool (C11)', async () => {
    await goUnserved();
    await goUnserved();
    await putJob(testDb.db, { entity_id: 7, entity_name: 'other' });
    expect((await matchOnce(testDb.db)).reserved).toMatchObject([{ pool: 'linux' }]);
  });
});
