import { describe, expect, test } from '@jest/globals';
import { waitFor } from '@paddock/testing/wait-for';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { useJobsScene } from '../scenes/use-scenes.scene.ts';
import { useTestDatabase } from '@paddock/testing/use-test-database';

const scene = useJobsScene(useTestDatabase());

const due = () =>
  scene.db
    .updateTable('jobs')
    .set({ lookup_due_at: new Date(0) })
    .execute();

const silentSince = async () =>
  (await scene.db.selectFrom('jobs').select('unanswered_since').executeTakeFirstOrThrow())
    .unanswered_since;

describe('GitHub’s silence about a job (E3)', () => {
  test('begins with the first question that it does not answer, and an answer ends it', async () => {
    await scene.addJob({ row: { created_at: new Date(0) } });
    expect(await silentSince()).toBeNull();
    await scene.world.github.failNext({ path: '/jobs$', status: 502, times: 2 });
    await scene.lookUp();
    const first = await silentSince();
    expect(first?.getTime()).toBeGreaterThan(Date.now() - 60_000);
    await due();
    await scene.lookUp();
    expect(await silentSince()).toEqual(first);
    await due();
    await scene.lookUp();
    await due();
    await scene.world.github.failNext({ path: '/jobs$', status: 502 });
    await scene.lookUp();
    expect((await silentSince())?.getTime()).toBeGreaterThan(first?.getTime() ?? Infinity);
  });
});

test('a job that GitHub calls queued is demand again once its runner has ended, although its pod lives on (A6, E3)', async () => {
  const { pod_name: podName } = await putWorker(scene.db, {
    status: 'running',
    running_at: minutesAgo(30),
    runner_ended_at: minutesAgo(11),
  });
  const job = await scene.addJob({
    row: { status: 'running', wants_worker: false, k8s_pod: podName },
  });
  await scene.lookUp();
  await scene.passTime();
  expect(await scene.lookUp()).toMatchObject({ requeued: 1 });
  expect(await scene.row(job)).toMatchObject({ wants_worker: true, lookup_due_at: null });
});

describe('a job that we failed and GitHub keeps in its queue (A6)', () => {
  const failed = {
    status: 'failed',
    wants_worker: false,
    failure_info: JSON.stringify({ version: 1, message: 'GitHub was silent' }),
  } as const;

  test('waits again, runs and ends, and its row follows', async () => {
    const job = await scene.addJob({ row: failed, job: { durationMs: 1 } });
    await scene.lookUp();
    expect(await scene.row(job)).toMatchObject({ status: 'failed', wants_worker: false });
    await scene.passTime();
    expect(await scene.lookUp()).toMatchObject({ requeued: 1 });
    expect(await scene.row(job)).toMatchObject({
      status: 'pending',
      wants_worker: true,
      failure_info: null,
      misjudged: true,
    });
    const worker = await scene.startRunner();
    await waitFor('the job’s end', async () =>
      (await scene.world.github.truth()).jobs.every(({ status }) => status === 'completed'),
    );
    await due();
    expect(await scene.lookUp()).toMatchObject({ stated: 1 });
    expect(await scene.row(job)).toMatchObject({
      status: 'completed',
      wants_worker: false,
      k8s_pod: worker,
      conclusion: 'success',
    });
  });

  test('stays failed when its run is over: no runner can get it', async () => {
    const job = await scene.addJob({ row: { ...failed, seen_queued_at: new Date(0) } });
    const { runId = 0 } = (await scene.world.github.truth()).jobs[0] ?? {};
    const other = await scene.world.github.queueJob({ repo: 'acme/api', labels: ['linux'], runId });
    await scene.world.github.cancelJob(other.id);
    await scene.world.github.rerunJob(other.id);
    expect(await scene.lookUp()).toMatchObject({ answered: 1 });
    expect(await scene.row(job)).toMatchObject({
      status: 'failed',
      wants_worker: false,
      requeues: 0,
    });
  });
});
