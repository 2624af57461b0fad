import { expect, test } from '@jest/globals';
import { bindWorkers } from '@paddock/db/workers/bind-workers';
import { noteKeyFailure } from '@paddock/db/workers/failing-keys';
import { listPods } from '@paddock/kube/pods';
import { findInstance } from '@paddock/db/instance';
import { waitFor } from '@paddock/testing/wait-for';
import { takeList } from './follow-pods.ts';
import { useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';
import { FOLLOWING } from '../scenes/settings.scene.ts';

const world = useSchedulerWorld({ playRunners: false });

test.each([
  ['forgets the failures of its key once its job is known', true, 'no_job', 0],
  ['says nothing about its key if its job is unknown', false, 'no_job', 1],
])('a runner that ends well %s (C11)', async (_name, isBound, failureClass, left) => {
  const instance = await findInstance(world.db);
  const list = async () => (await listPods(world.cluster, { namespace: 'runners', instance })).pods;
  const jobId = await world.queueJob();
  await world.match();
  await world.runTasks();
  const name =
    (await world.workers()).find((worker) => worker.made_for_job_id === jobId)?.pod_name ?? '';
  await waitFor('the pod to run', async () =>
    (await list()).some((pod) => pod.name === name && pod.phase === 'Running'),
  );
  await noteKeyFailure(
    world.db,
    { podName: name, failureClass, message: 'none' },
    world.parts.failureRules,
  );
  if (isBound)
    await world.db.transaction().execute((trx) => bindWorkers(trx, [{ worker: name, jobId }]));
  world.kube.endPod({ namespace: 'runners', name, end: 'succeeded' });
  const pod = await waitFor('the pod to end', async () =>
    (await list()).find((one) => one.name === name && one.phase === 'Succeeded'),
  );
  await takeList({ ...world.parts, ...FOLLOWING }, 'runners', [pod], []);
  expect((await world.workers()).map(({ status }) => status)).toEqual(['completed']);
  const failing = await world.db.selectFrom('demand_keys').select('failures').execute();
  expect(failing).toEqual([{ failures: left }]);
});
