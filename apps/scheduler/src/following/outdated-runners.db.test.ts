import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { diagnoseTask } from '@paddock/domain/tasks/worker-tasks';
import { enqueueAlone } from '@paddock/queue/enqueue';
import { examplePools } from '@paddock/testing/demand-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { type SchedulerWorld, startSchedulerWorld } from '../scenes/scheduler.scene.ts';

let world: SchedulerWorld;
let stopFollowing: () => Promise<void>;
beforeAll(async () => {
  world = await startSchedulerWorld();
});
afterAll(() => world.stop());
beforeEach(async () => {
  await world.reset();
  stopFollowing = world.follow();
});
afterEach(() => stopFollowing());

const usePools = async (image: string) => world.putPools(examplePools({ pools: [{ image }] }));
const reasons = async () =>
  (await world.db.selectFrom('demand_keys').select('wait_reason').execute()).map(
    (key) => key.wait_reason,
  );
const ended = async () =>
  (await world.workers()).filter(({ status }) => status === 'completed' || status === 'failed');

/** The scheduler's work until `count` workers have ended and all that follows is done. */
async function workUntilEnded(count: number): Promise<void> {
  await waitFor(`${count} workers to end`, async () => {
    await world.match();
    await world.runTasks();
    return (await ended()).length >= count;
  });
  await world.runTasks();
  await world.match();
}

describe('a runner of a version that GitHub serves no more (C11)', () => {
  test.each([
    ['ends with 0', 'runner:2.329.0', { status: 'completed', exit_code: 0 }],
    ['ends with 7', 'runner:2.335.1', { status: 'failed', exit_code: 7 }],
  ])('that %s is recognised within two pods, and no third is made', async (_how, image, how) => {
    await usePools(image);
    await world.queueJob();
    await workUntilEnded(1);
    // One log proves nothing. The second pod may have ended by now.
    const early = await reasons();
    expect((await ended()).length === 1 ? early : []).not.toEqual(['runner_outdated']);
    await workUntilEnded(2);
    await waitFor('the reason', async () => {
      await world.match();
      await world.runTasks();
      return (await reasons()).includes('runner_outdated');
    });
    const workers = await ended();
    expect(workers).toMatchObject([how, how]);
    for (const worker of workers) {
      expect(worker).toMatchObject({ stop_reason: 'outdated_runner', unexplained_until: null });
    }
    expect(
      (await world.workers()).filter(({ registered_at: registeredAt }) => registeredAt !== null),
    ).toHaveLength(2);
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
