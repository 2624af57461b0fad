import { afterEach, describe, expect, test } from '@jest/globals';
import type { StopReason } from '@paddock/domain/workers/stop-reasons';
import { waitFor } from '@paddock/testing/wait-for';
import { NAMESPACE } from '../scenes/scheduler.scene.ts';
import { useSchedulerWorld, useStopScene } from '../scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld();
const scene = useStopScene(world);
afterEach(async () => {
  world.kube.setRunnerFaults({});
  await scene.cancelAll();
});

const NO_NAME =
  '2026-03-02 08:00:11Z: Runner connect error: Name or service not known (api.github.com:443). Retrying until reconnected.';

/** A worker whose runner writes these lines and never comes to GitHub. */
async function silentWorker(...silentLog: string[]): Promise<string> {
  world.kube.setRunnerFaults({ silentRate: 1, silentLog });
  const podName = await scene.makeWorker(() => world.queueJob());
  await waitFor('the pod to run', async () => (await scene.pod(podName))?.phase === 'Running');
  await waitFor('its log', () =>
    Promise.resolve(world.kube.runnerLog(NAMESPACE, podName).length >= silentLog.length),
  );
  await scene.follow();
  return podName;
}

async function stop(podName: string, reason: StopReason): Promise<void> {
  await scene.askToStop(podName, reason);
  await waitFor('its row to end', async () => {
    await scene.letEnd(podName);
    return (await scene.row(podName)).completed_at !== null;
  });
  await world.runTasks();
}

describe('a runner that GitHub never saw leaves its trace before its pod goes (P5)', () => {
  test.each(['not_registered', 'registration_gone'] as const)(
    'stopped as %s: log, events, states, and the cause in a sentence',
    async (reason) => {
      const podName = await silentWorker("Current runner version: '2.336.0'", NO_NAME);
      await stop(podName, reason);
      const { status, stop_reason, failure_info } = await scene.row(podName);
      expect({ status, stop_reason }).toEqual({ status: 'failed', stop_reason: reason });
      expect(failure_info).toMatchObject({
        version: 2,
        reason,
        message: expect.stringContaining('a name that cannot be resolved'),
        pod: { phase: 'Running', node: 'sim-node' },
        containers: [{ name: 'runner', log: expect.stringContaining(NO_NAME) }],
        events: expect.arrayContaining([expect.objectContaining({ reason: 'Started' })]),
      });
    },
  );

  test('a surplus idle worker is stopped as before, without a diagnosis', async () => {
    const podName = await scene.idleWorker();
    await stop(podName, 'idle');
    expect((await scene.row(podName)).failure_info).toMatchObject({ version: 1 });
  });
});

test('a worker that is kept after all loses the diagnosis', async () => {
  const podName = await silentWorker(NO_NAME);
  await scene.askToStop(podName, 'not_registered');
  await world.runTasks();
  await scene.letTimePass();
  await world.runTasks();
  expect((await scene.row(podName)).failure_info).toMatchObject({ version: 2 });
  await world.db.updateTable('workers').set({ assigned_at: new Date() }).execute();
  await scene.letTimePass();
  await world.runTasks();
  expect(await scene.row(podName)).toMatchObject({ stopping_at: null, failure_info: null });
});
