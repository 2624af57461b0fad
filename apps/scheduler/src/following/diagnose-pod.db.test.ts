import { describe, expect, test } from '@jest/globals';
import { diagnoseTask } from '@paddock/domain/tasks/worker-tasks';
import { enqueueAlone } from '@paddock/queue/enqueue';
import { waitFor } from '@paddock/testing/wait-for';
import { useFollowedPods, useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld();
const pods = useFollowedPods(world);

const usePools = async (image: string) => world.putPools({ pools: [{ image }] });
const isOutdated = async () => (await world.reasons()).includes('runner_outdated');
const ended = async () =>
  (await world.workers()).filter(({ completed_at }) => completed_at !== null);

/** The scheduler's work until `count` workers have ended and all that follows is done. */
async function workUntilEnded(count: number): Promise<void> {
  await waitFor(`${count} workers to end`, async () => {
    await world.match();
    await world.runTasks();
    await pods.relist();
    return (await ended()).length >= count;
  });
  await world.runTasks();
  await world.match();
}

describe('a runner of a version that GitHub serves no more (C11)', () => {
  test.each([
    ['ends with 0', 'runner:2.329.0', { exit_code: 0 }],
    ['ends with 7', 'runner:2.335.1', { exit_code: 7 }],
  ])('that %s is recognised within two pods, and no third is made', async (_how, image, how) => {
    await usePools(image);
    await world.queueJob();
    await workUntilEnded(1);
    // One log proves nothing.
    expect(await isOutdated()).toBe(false);
    await workUntilEnded(2);
    expect(await isOutdated()).toBe(true);
    const refused = { status: 'failed', stop_reason: 'outdated_runner', unexplained_until: null };
    const outdated = { ...how, ...refused };
    expect(await world.workers()).toMatchObject([outdated, outdated]);
    expect(await world.failing()).toMatchObject([
      { pool: 'linux', failureClass: 'outdated_runner', failures: 2, pauses: 1 },
    ]);
  });

  test('differs from one that ran a job without a delivery: that one still counts against its job (C3)', async () => {
    await world.queueJob();
    await workUntilEnded(1);
    expect(await ended()).toMatchObject([
      { status: 'completed', stop_reason: null, unexplained_until: expect.any(Date) },
    ]);
    expect(await world.failing()).toEqual([]);
  });

  test('is known by a log that the cluster gives only at the second asking, and is counted once, however often it is looked at', async () => {
    await usePools('runner:2.329.0');
    await world.queueJob();
    world.kube.failNext({ path: '/log$', status: 503 });
    await workUntilEnded(1);
    const failures = async () => (await world.failing()).map((key) => key.failures);
    expect(await failures()).toEqual([]);
    await world.makeDue();
    await world.runTasks();
    expect(await failures()).toEqual([1]);
    const [worker] = await ended();
    await enqueueAlone(world.db, [diagnoseTask(worker?.pod_name ?? '')]);
    await world.runTasks();
    expect(await failures()).toEqual([1]);
  });
});

const NOT_KNOWN =
  'Failed to create a session. The runner registration has been deleted from the server, please re-configure. Runner registrations are automatically deleted for runners that have not connected to the service recently.';
const DIAGNOSIS = {
  version: 2,
  reason: 'not_registered',
  message: expect.stringContaining('a registration that GitHub does not know'),
  containers: [{ name: 'runner', exitCode: 0, log: expect.stringContaining(NOT_KNOWN) }],
};

test.each([
  ['and never reached GitHub leaves its trace', [NOT_KNOWN], DIAGNOSIS],
  [
    'after it had listened gets no diagnosis',
    ['2026-08-17 14:15:44Z: Listening for Jobs', NOT_KNOWN],
    null,
  ],
])(
  'a runner that ends well %s; its end stays unexplained (C3, P5)',
  async (_how, log, failure_info) => {
    const name = await pods.silentWorker(...log);
    await pods.endPod(name, 'succeeded');
    await pods.relist();
    await world.runTasks();
    expect(await pods.row(name)).toMatchObject({
      status: 'completed',
      unexplained_until: expect.any(Date),
      failure_info,
    });
  },
);
