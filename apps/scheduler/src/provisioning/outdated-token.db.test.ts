import { expect, test } from '@jest/globals';
import { useEvidence, useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld({ kubelet: false });
const seen = useEvidence(world);

const JIT = '/generate-jitconfig$';
const dueInMs = async () => ((await seen.tasks())[0]?.due_at.getTime() ?? 0) - Date.now();
const noted = async () => ({
  events: (await world.db.selectFrom('installation_events').select('outcome').execute()).map(
    ({ outcome }) => outcome,
  ),
  breakers: (
    await world.db.selectFrom('breakers').select('failure_class').orderBy('failure_class').execute()
  ).map((breaker) => breaker.failure_class),
});

test('a token that worked and is refused is replaced a second later, without a counted failure; a refused new token is counted (C9, D4)', async () => {
  await world.queueJob();
  await world.settle();
  await seen.expectOneWorker();

  await world.queueJob();
  await world.match();
  await world.gitHub.failNext({ path: JIT, status: 401, times: 2 });
  await world.runTasks();
  expect(await dueInMs()).toBeLessThan(2_000);
  expect(await noted()).toEqual({ events: [], breakers: [] });
  await world.makeDue();
  await world.runTasks();
  expect(await dueInMs()).toBeGreaterThan(50_000);
  expect(await noted()).toEqual({
    events: ['auth_other_error'],
    breakers: ['refused', 'unauthorized'],
  });
  await world.settle();
  expect((await world.workers()).map((worker) => worker.registered_at !== null)).toEqual([
    true,
    true,
  ]);
});
