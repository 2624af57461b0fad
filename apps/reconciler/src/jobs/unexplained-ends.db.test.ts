import { describe, expect, test } from '@jest/globals';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { sql } from 'kysely';
import { useJobsScene } from '../scenes/use-scenes.scene.ts';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { untilBlocked } from '@paddock/testing/until-blocked';

const scene = useJobsScene(useTestDatabase());

/** A worker that ended well just now, without a known job. */
const endUnexplained = async (given: { pod_name?: string; k8s_pool?: string } = {}) =>
  (
    await putWorker(scene.db, {
      entity_id: scene.world.organization.id,
      status: 'completed',
      running_at: minutesAgo(5),
      completed_at: minutesAgo(0),
      unexplained_until: minutesAgo(-10),
      ...given,
    })
  ).pod_name;
const graces = async () =>
  (
    await scene.db
      .selectFrom('workers')
      .select('pod_name')
      .where('unexplained_until', 'is not', null)
      .orderBy('pod_name')
      .execute()
  ).map(({ pod_name: name }) => name);
const breakers = () =>
  scene.db
    .selectFrom('breakers')
    .select(['subject_id', 'failure_class', 'failures', 'pauses'])
    .orderBy('subject_id')
    .execute();
const waiting = { row: { lookup_due_at: null } };

describe('after an unexplained end (C3, E4)', () => {
  test('the key’s oldest waiting jobs are looked up; all of them queued ends the grace', async () => {
    const job = await scene.addJob(waiting);
    await endUnexplained();
    expect(await scene.lookUp()).toMatchObject({ jobs: 1, queued: 1, graces: 1 });
    expect(await graces()).toEqual([]);
    expect(await scene.row(job)).toMatchObject({ status: 'pending', wants_worker: true });
    expect(await scene.lookUp()).toMatchObject({ jobs: 0, graces: 0 });
  });

  test('a job that GitHub gave to the worker explains it', async () => {
    const name = await scene.startRunner();
    const [ran, left] = [
      await scene.addJob({ ...waiting, job: { durationMs: 3_600_000 } }),
      await scene.addJob(waiting),
    ];
    await scene.db
      .updateTable('workers')
      .set({ status: 'completed', completed_at: new Date(), unexplained_until: new Date(4e12) })
      .execute();
    expect(await scene.lookUp()).toMatchObject({ jobs: 2, stated: 1, queued: 1, graces: 0 });
    expect(await graces()).toEqual([]);
    expect(await scene.row(ran)).toMatchObject({ status: 'running', k8s_pod: name });
    expect(await scene.row(left)).toMatchObject({ wants_worker: true });
  });

  test('the grace stays while GitHub does not answer, and the next pass asks again', async () => {
    await scene.addJob(waiting);
    const name = await endUnexplained();
    await scene.world.github.failNext({ path: '/jobs$', status: 502 });
    expect(await scene.lookUp()).toMatchObject({ unanswered: 1, graces: 0 });
    expect(await graces()).toEqual([name]);
    expect(await scene.lookUp()).toMatchObject({ queued: 1, graces: 1 });
  });

  test('an answer from before the end proves nothing about it', async () => {
    await scene.addJob({
      row: { lookup_due_at: null, looked_up_at: new Date(Date.now() - 60_000) },
    });
    await endUnexplained();
    expect(await scene.lookUp()).toMatchObject({ jobs: 1, graces: 1 });
  });

  test('only a bounded number of the oldest jobs are looked up, and none of another key', async () => {
    const jobs = [
      await scene.addJob(waiting),
      await scene.addJob(waiting),
      await scene.addJob(waiting),
    ];
    await scene.addJob({ ...waiting, job: { repo: 'mona/tool' } });
    await endUnexplained();
    expect(await scene.lookUp({ perKey: 2 })).toMatchObject({ jobs: 2, graces: 1 });
    expect(await scene.row(jobs[2] ?? 0)).toMatchObject({ looked_up_at: null });
  });

  test('without waiting jobs, and in a dry run, nothing changes', async () => {
    const name = await endUnexplained();
    expect(await scene.lookUp()).toMatchObject({ jobs: 0, graces: 0 });
    await scene.addJob(waiting);
    expect(await scene.lookUp({ dryRun: true })).toMatchObject({ jobs: 1, graces: 0 });
    expect(await graces()).toEqual([name]);
  });

  test('a first answer that GitHub does not know the job does not end it; the second ends the job (C11, P4)', async () => {
    const name = await endUnexplained();
    const job = await scene.addJob({ row: { lookup_due_at: null, run_id: 404_404 } });
    expect(await scene.lookUp()).toMatchObject({ jobs: 1, gone: 1, graces: 0 });
    expect(await scene.lookUp()).toMatchObject({ jobs: 0, graces: 0 });
    await scene.db
      .updateTable('jobs')
      .set({ lookup_due_at: new Date(0), seen_gone_at: minutesAgo(60) })
      .execute();
    expect(await scene.lookUp()).toMatchObject({ jobs: 1, failed: 1, graces: 0 });
    expect(await scene.row(job)).toMatchObject({ status: 'failed', wants_worker: false });
    expect(await graces()).toEqual([name]);
  });
});

describe('runners that end well without a job (C11, P4)', () => {
  const ofPool = { subject_id: 'linux', failure_class: 'no_job', pauses: 0 };
  const ofEntity = { ...ofPool, subject_id: 'linux@90000001' };
  const open = { ...ofEntity, failures: 0, pauses: 1 };

  test('speak against their pool, and against their entity there: the third opens its breaker', async () => {
    await scene.addJob(waiting);
    await endUnexplained();
    await endUnexplained();
    expect(await scene.lookUp()).toMatchObject({ graces: 2 });
    expect(await breakers()).toEqual([
      { ...ofPool, failures: 2 },
      { ...ofEntity, failures: 2 },
    ]);
    await endUnexplained();
    expect(await scene.lookUp()).toMatchObject({ graces: 1 });
    expect(await breakers()).toEqual([{ ...ofPool, failures: 3 }, open]);
  });

  test('it closes with a worker that was made since and has a job, and not with one from before', async () => {
    await scene.addJob(waiting);
    for (let n = 0; n < 3; n += 1) await endUnexplained();
    const had = { status: 'running', running_at: minutesAgo(1), assigned_at: new Date() } as const;
    await putWorker(scene.db, { ...had, created_at: minutesAgo(2) });
    await scene.lookUp();
    expect(await breakers()).toEqual([{ ...ofPool, failures: 3 }, open]);
    await putWorker(scene.db, { ...had, created_at: minutesAgo(-1), k8s_pool: 'windows' });
    await scene.lookUp();
    expect(await breakers()).toEqual([{ ...ofPool, failures: 3 }, open]);
    await putWorker(scene.db, { ...had, created_at: minutesAgo(-1), entity_id: 7 });
    await scene.lookUp();
    expect(await breakers()).toEqual([open]);
    await putWorker(scene.db, { ...had, created_at: minutesAgo(-1) });
    await scene.lookUp();
    expect(await breakers()).toEqual([]);
  });

  test('are counted for one entity in one pool at a time: so a transaction that locks breakers of several pools in order never meets the opposite order', async () => {
    const pools = ['linux', 'linux-large'];
    for (const k8s_pool of pools) await scene.addJob({ row: { ...waiting.row, k8s_pool } });
    for (const k8s_pool of pools) await endUnexplained({ k8s_pool });
    expect(await scene.lookUp()).toMatchObject({ graces: 2 });
    for (const k8s_pool of pools) await endUnexplained({ k8s_pool });
    const { counting } = await scene.db.transaction().execute(async (trx) => {
      const lock = (pool: string) =>
        sql`select from breakers where subject_id = ${pool} for update`.execute(trx);
      await lock('linux');
      const lookUp = scene.lookUp();
      await untilBlocked(scene.db);
      await lock('linux-large');
      return { counting: lookUp };
    });
    expect(await counting).toMatchObject({ graces: 2 });
  });
});
