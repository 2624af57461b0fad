import { expect, test } from '@jest/globals';
import { noteFailure } from '@paddock/db/breakers/note-failure';
import { poolBreaker } from '@paddock/db/breakers/breaker-subjects';
import { listPods } from '@paddock/kube/pods';
import { findInstance } from '@paddock/db/instance';
import { waitFor } from '@paddock/testing/wait-for';
import { takeList } from './follow-pods.ts';
import { useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';
import { FOLLOWING } from '../scenes/settings.scene.ts';

const world = useSchedulerWorld({ playRunners: false });

test.each([
  ['closes the breaker of its pool if it had a job', new Date(), 'no_job', 0],
  ['says nothing about its pool if its job is unknown', null, 'no_job', 1],
  ['says nothing about whether the cluster accepts more pods', new Date(), 'pod_refused', 1],
])('a runner that ends well %s (C11)', async (_name, assignedAt, failureClass, left) => {
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
  await world.db.updateTable('workers').set({ assigned_at: assignedAt }).execute();
  await noteFailure(world.parts, { subject: poolBreaker('linux'), failureClass, message: 'none' });
  world.kube.endPod({ namespace: 'runners', name, end: 'succeeded' });
  const pod = await waitFor('the pod to end', async () =>
    (await list()).find((one) => one.name === name && one.phase === 'Succeeded'),
  );
  await takeList({ ...world.parts, ...FOLLOWING }, 'runners', [pod], []);
  expect((await world.workers()).map(({ status }) => status)).toEqual(['completed']);
  expect(await world.db.selectFrom('breakers').selectAll().execute()).toHaveLength(left);
});
