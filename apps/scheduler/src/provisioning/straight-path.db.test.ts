import { expect, test } from '@jest/globals';
import { waitFor } from '@paddock/testing/wait-for';
import { useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld();

test('a waiting job becomes a worker, a registration, a Secret and a pod; the pod’s end ends the worker, and the Secret goes (C6, C8, E7)', async () => {
  const stopFollowing = world.follow();
  const jobId = await world.queueJob();
  expect(await world.match()).toMatchObject({ reserved: 1, ended: 0 });
  await world.runTasks();

  const { runner_id: runnerId, ...worker } = await waitFor('the worker to end', async () =>
    (await world.workers()).find(({ status }) => status === 'completed'),
  );
  expect(worker).toMatchObject({
    made_for_job_id: jobId,
    registered_labels: ['linux', 'self-hosted'],
    exit_code: 0,
    k8s_node: 'sim-node',
    failure_info: null,
  });
  expect(runnerId).toEqual(expect.any(Number));
  for (const instant of [
    worker.registered_at,
    worker.pod_created_at,
    worker.running_at,
    worker.completed_at,
  ])
    expect(instant).not.toBeNull();
  expect(worker.unexplained_until).not.toBeNull(); // no delivery has announced its job

  await world.runTasks();
  expect(world.kube.report().secretsLeft).toEqual([]);
  expect((await world.workers())[0]?.secret_deleted_at).not.toBeNull();
  const truth = await world.gitHub.truth();
  expect(truth.jobs.map(({ status, runnerName }) => [status, runnerName])).toEqual([
    ['completed', worker.pod_name],
  ]);
  expect(truth.runners).toEqual([]);
  // The reconciler is to ask GitHub which job it was (C3).
  expect(await world.db.selectFrom('tasks').select('kind').execute()).toEqual([
    { kind: 'look-up-jobs' },
  ]);
  // A JIT config is a long run of base64, and no table contains it (D1).
  for (const table of ['workers', 'operations', 'installation_events'] as const) {
    expect(JSON.stringify(await world.db.selectFrom(table).selectAll().execute())).not.toMatch(
      /[A-Za-z0-9+/]{120,}/,
    );
  }
  await stopFollowing();
});
