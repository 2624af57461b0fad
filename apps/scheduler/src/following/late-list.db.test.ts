import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connectCluster } from '@paddock/kube/connect';
import { waitFor } from '@paddock/testing/wait-for';
import { followPods } from './follow-pods.ts';
import { startHoldingProxy } from '../scenes/holding-proxy.scene.ts';
import { type SchedulerWorld, startSchedulerWorld } from '../scenes/scheduler.scene.ts';
import { FOLLOWING } from '../scenes/settings.scene.ts';

let world: SchedulerWorld;
let proxy: Awaited<ReturnType<typeof startHoldingProxy>>;
beforeAll(async () => {
  world = await startSchedulerWorld({ playRunners: false });
  proxy = await startHoldingProxy(world.kube.url);
});
afterAll(async () => {
  await world.stop();
  await proxy.stop();
});

/** Far beyond the test: only its release ends the held call. */
const requestTimeoutMs = 300_000;

test('a worker that is made while the list of pods is on its way is not missed from it (C8)', async () => {
  const cluster = connectCluster({
    kubeconfigFile: world.kube.writeKubeconfig(proxy.url),
    requestTimeoutMs,
  });
  const stop = new AbortController();
  const held = proxy.hold({ method: 'GET', path: '/pods$', at: 'answer' });
  const following = followPods({ ...world.parts, ...FOLLOWING, cluster }, stop.signal);
  await Promise.race([held.reached, following]);
  await world.queueJob();
  await world.match();
  await world.runTasks();
  held.release();
  await waitFor('the worker to be seen running', async () =>
    (await world.workers()).some(({ status }) => status === 'running'),
  );
  expect(await world.workers()).toMatchObject([
    { status: 'running', pod_gone_at: null, stopping_at: null },
  ]);
  expect(await world.db.selectFrom('tasks').select('kind').execute()).toEqual([]);
  stop.abort();
  await following;
  cluster.close();
});
