import { describe, expect, test } from '@jest/globals';
import { useSchedulerWorld, useStopScene } from '../scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld();
const scene = useStopScene(world);

/** Lost on its way, or done with its answer lost. */
const FAULTS = [{}, { afterCommit: true }] as const;
/** As many as two stops make together. */
const GITHUB_CALLS = 9;
const CLUSTER_CALLS = 9;

describe.each(FAULTS)('the nth outside call fails with %j', (fault) => {
  const fail = async (side: 'GitHub' | 'cluster', nth: number) =>
    side === 'GitHub'
      ? world.gitHub.failNext({ path: '.', after: nth, ...fault })
      : world.kube.failNext({ path: '/pods/', after: nth, ...fault });
  const calls = [
    ...Array.from({ length: GITHUB_CALLS }, (_, nth) => ['GitHub', nth] as const),
    ...Array.from({ length: CLUSTER_CALLS }, (_, nth) => ['cluster', nth] as const),
  ];

  test.each(calls)(
    '%s, call %d: an idle worker ends all the same, a busy one works on (E5, P2)',
    async (side, nth) => {
      const { podName: busy, jobId } = await scene.busyWorker();
      const idle = await scene.idleWorker();
      await world.gitHub.setRunnerFaults({ busyLies: true });
      await scene.askToStop(idle);
      await scene.askToStop(busy);
      await fail(side, nth);
      await scene.letEnd(idle, { attempts: 20 });
      await scene.letEnd(busy, { attempts: 20 });
      expect((await scene.row(idle)).completed_at).not.toBeNull();
      expect(await scene.runner(idle)).toBeUndefined();
      expect(await scene.row(busy)).toMatchObject({
        status: 'running',
        stopping_at: null,
        assigned_at: expect.any(Date),
      });
      await world.gitHub.clearFaults();
      world.kube.clearFaults();
      await scene.expectWorking(busy, jobId);
    },
  );
});

test('two replicas with all tasks due: each worker is stopped once, none that works (C5, P2)', async () => {
  const { podName: busy, jobId } = await scene.busyWorker();
  const idle = [await scene.idleWorker(), await scene.idleWorker()];
  await world.gitHub.setRunnerFaults({ busyLies: true });
  for (const podName of [...idle, busy]) await scene.askToStop(podName);
  for (let turn = 0; turn < 6; turn += 1) {
    await Promise.all([world.runTasks('one'), world.runTasks('two')]);
    await scene.follow();
    await scene.letTimePass();
  }
  for (const podName of idle) expect((await scene.row(podName)).completed_at).not.toBeNull();
  await world.gitHub.clearFaults();
  await scene.expectWorking(busy, jobId);
});
