import { describe, expect, test } from '@jest/globals';
import { findInstance } from '@paddock/db/instance';
import { listPods } from '@paddock/kube/pods';
import { waitFor } from '@paddock/testing/wait-for';
import { NAMESPACE } from '../scenes/scheduler.scene.ts';
import { useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';
import { FOLLOWING } from '../scenes/settings.scene.ts';
import { takeList } from './follow-pods.ts';

const world = useSchedulerWorld();

/**
 * A worker whose runner writes these lines, never comes to GitHub and ends well; its row as it is
 * then.
 */
async function endedSilently(...silentLog: string[]) {
  world.kube.setRunnerFaults({ silentRate: 1, silentLog });
  await world.queueJob();
  await world.match();
  await world.runTasks();
  const list = async () =>
    (
      await listPods(world.cluster, {
        namespace: NAMESPACE,
        instance: await findInstance(world.db),
      })
    ).pods;
  const pod = await waitFor('the pod to run', async () =>
    (await list()).find(({ phase }) => phase === 'Running'),
  );
  await waitFor('its log', () =>
    Promise.resolve(world.kube.runnerLog(NAMESPACE, pod.name).length >= silentLog.length),
  );
  world.kube.setRunnerFaults({});
  world.kube.endPod({ namespace: NAMESPACE, name: pod.name, end: 'succeeded' });
  await waitFor('the pod to end', async () => (await list())[0]?.phase === 'Succeeded');
  await takeList({ ...world.parts, ...FOLLOWING }, NAMESPACE, await list(), []);
  await world.runTasks();
  const [row] = await world.workers();
  return row;
}

const NOT_KNOWN =
  'Failed to create a session. The runner registration has been deleted from the server, please re-configure. Runner registrations are automatically deleted for runners that have not connected to the service recently.';

describe('a runner that ends well (C3, P5)', () => {
  test('and never reached GitHub leaves its trace: why, its log, its events; its end stays unexplained', async () => {
    const row = await endedSilently(
      NOT_KNOWN,
      'Runner listener exit with terminated error, stop the service, no retry needed.',
    );
    expect(row).toMatchObject({
      status: 'completed',
      unexplained_until: expect.any(Date),
      failure_info: {
        version: 2,
        reason: 'not_registered',
        message: expect.stringContaining('a registration that GitHub does not know'),
        containers: [{ name: 'runner', exitCode: 0, log: expect.stringContaining(NOT_KNOWN) }],
      },
    });
  });

  test.each([
    ['after it had listened', ['2026-08-17 14:15:44Z: Listening for Jobs', NOT_KNOWN]],
    ['without a reason in its log', ['hello']],
  ])('%s gets no diagnosis', async (_when, log) => {
    expect(await endedSilently(...log)).toMatchObject({
      status: 'completed',
      unexplained_until: expect.any(Date),
      failure_info: null,
    });
  });
});
