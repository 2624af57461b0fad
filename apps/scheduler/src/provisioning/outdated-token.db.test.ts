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
  refused: (
    await world.db
      .selectFrom('installations')
      .select('refused_reason')
      .where('entity_id', '=', world.entityId)
      .execute()
  ).map(({ refused_reason }) => refused_reason),
});

test('a token that worked and is refused is replaced a second later, and nothing is refused; a refused new token is (C9, D4)', async () => {
  await world.queueJob();
  await world.settle();
  await seen.expectOneWorker();

  await world.queueJob();
  await world.match();
  await world.gitHub.failNext({ path: JIT, status: 401, times: 2 });
  await world.runTasks();
  expect(await dueInMs()).toBeLessThan(2_000);
  expect(await noted()).toEqual({ events: [], refused: [null] });
  await world.makeDue();
  await world.runTasks();
  expect(await dueInMs()).toBeGreaterThan(50_000);
  expect(await noted()).toEqual({
    events: ['auth_other_error'],
    refused: ['installation_refused'],
  });
  await world.settle();
  expect(await noted()).toMatchObject({ refused: [null] });
  expect((await world.workers()).map((worker) => worker.registered_at !== null)).toEqual([
    true,
    true,
  ]);
});
