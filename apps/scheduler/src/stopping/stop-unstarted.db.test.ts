import { afterEach, describe, expect, test } from '@jest/globals';
import { examplePools } from '@paddock/testing/demand-rows';
import { useSchedulerWorld, useStopScene } from '../scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld({ playRunners: false });
const scene = useStopScene(world);
afterEach(async () => {
  world.kube.clearFaults();
  await world.gitHub.clearFaults();
  await scene.cancelAll();
});

/** How the pods of the pool begin, by the simulated node. */
const startsWith = (start: string) =>
  world.putPools(
    examplePools({
      pools: [{ template: { metadata: { annotations: { 'test.paddock/start': start } } } }],
    }),
  );
const runsRead = async () =>
  (await world.gitHub.report()).calls['actions/list-jobs-for-workflow-run'] ?? 0;

describe('a pod that never started needs no more proof than that', () => {
  test.each([100, 101])('%i runs wait, and are not read (P6)', async (runs) => {
    await startsWith('unschedulable');
    const podName = await scene.startUnregistered('Pending');
    for (let run = 1; run < runs; run += 1) await world.queueJob();
    await scene.askToStop(podName, 'pending_timeout');
    await scene.letEnd(podName, { attempts: 4, minutes: 0 });
    expect(await scene.row(podName)).toMatchObject({ status: 'failed', stop_held_by: null });
    expect([await scene.pod(podName), await scene.runner(podName)]).toEqual([undefined, undefined]);
    expect(await runsRead()).toBe(0);
  });

  test('on no node: it ends although GitHub does not answer, and its registration is left for later (P6)', async () => {
    await startsWith('unschedulable');
    const podName = await scene.startUnregistered('Pending');
    await world.gitHub.failNext({ path: '/actions/runners', status: 502, times: 1_000 });
    await scene.askToStop(podName, 'pending_timeout');
    await world.runTasks();
    expect(await scene.row(podName)).toMatchObject({
      status: 'failed',
      registration_gone_at: null,
    });
    expect(await scene.pod(podName)).toBeUndefined();
  });

  test('on no node, but its runner is online: somebody runs it elsewhere, and it stays (P2)', async () => {
    await startsWith('unschedulable');
    const podName = await scene.startUnregistered('Pending');
    await scene.cancelAll();
    const disconnect = await scene.connectRunner(podName);
    await scene.askToStop(podName, 'pending_timeout');
    await scene.letEnd(podName, { attempts: 4 });
    expect(await scene.row(podName)).toMatchObject({
      completed_at: null,
      stop_held_by: expect.stringContaining('no line of a runner'),
    });
    expect((await scene.runner(podName))?.state).toBe('idle');
    await disconnect();
  });
});
