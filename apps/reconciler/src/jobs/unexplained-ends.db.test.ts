import { describe, expect, test } from '@jest/globals';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { useJobsScene } from '../scenes/use-scenes.scene.ts';
import { useTestDatabase } from '@paddock/testing/use-test-database';

const scene = useJobsScene(useTestDatabase());

/** A worker that ended well just now, without a known job. */
const endUnexplained = async (
  given: { pod_name?: string; k8s_pool?: string; entity_id?: number } = {},
) =>
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
const failing = () =>
  scene.db
    .selectFrom('demand_keys')
    .select(['k8s_pool as pool', 'failure_class as failureClass', 'failures', 'pauses'])
    .where('failures', '>', 0)
    .orderBy('k8s_pool')
    .orderBy('failures', 'desc')
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

  test('the grace stays while GitHub does not answer, and a minute later it is asked again', async () => {
    await scene.addJob(waiting);
    const name = await endUnexplained();
    await scene.world.github.failNext({ path: '/jobs$', status: 502 });
    expect(await scene.lookUp()).toMatchObject({ unanswered: 1, graces: 0 });
    expect(await graces()).toEqual([name]);
    expect(await scene.lookUp()).toMatchObject({ jobs: 0, graces: 0 });
    await scene.passTime();
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
    expect(await scene.lookUp({ doubts: { perKey: 2 } })).toMatchObject({ jobs: 2, graces: 1 });
    expect(await scene.row(jobs[2] ?? 0)).toMatchObject({ looked_up_at: null });
  });

  test('without waiting jobs nothing changes', async () => {
    const name = await endUnexplained();
    expect(await scene.lookUp()).toMatchObject({ jobs: 0, graces: 0 });
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
    await scene.world.github.failNext({ method: 'GET', path: '/actions/jobs/', status: 404 });
    expect(await scene.lookUp()).toMatchObject({ jobs: 1, failed: 1, graces: 0 });
    expect(await scene.row(job)).toMatchObject({ status: 'failed', wants_worker: false });
    expect(await graces()).toEqual([name]);
  });
});

describe('runners that end well without a job (C11, P4)', () => {
  const ofKey = { pool: 'linux', failureClass: 'no_job', failures: 3, pauses: 1 };

  test('speak against their key: the third pauses it', async () => {
    await scene.addJob(waiting);
    await endUnexplained();
    await endUnexplained();
    expect(await scene.lookUp()).toMatchObject({ graces: 2 });
    expect(await failing()).toEqual([{ ...ofKey, failures: 2, pauses: 0 }]);
    await endUnexplained();
    expect(await scene.lookUp()).toMatchObject({ graces: 1 });
    expect(await failing()).toEqual([ofKey]);
  });

  test('speak against no other key of their pool, and against no key of another pool', async () => {
    for (const row of [{}, { entity_id: 7 }, { k8s_pool: 'linux-large' }])
      await scene.addJob({ row: { ...waiting.row, ...row } });
    for (let n = 0; n < 3; n += 1) await endUnexplained();
    await endUnexplained({ entity_id: 7 });
    await endUnexplained({ k8s_pool: 'linux-large' });
    await scene.lookUp();
    const once = { ...ofKey, failures: 1, pauses: 0 };
    expect(await failing()).toEqual([ofKey, once, { ...once, pool: 'linux-large' }]);
  });
});
