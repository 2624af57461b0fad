import { expect, test } from '@jest/globals';
import { useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld({ kubelet: false });

const JIT = '/generate-jitconfig$';
const reasons = () =>
  world.db.selectFrom('demand_keys').select('wait_reason').orderBy('wait_reason').execute();

/** As busy as a scheduler that is woken again and again while no pause ends. */
async function goOn(passes = 20): Promise<void> {
  for (let pass = 0; pass < passes; pass += 1) {
    await world.holdPauses();
    await world.match();
    await world.runTasks();
  }
}

test('409 to every registration of an entity: three rows and calls, then one per pause, and the key says why (C11, P4, P5)', async () => {
  await world.queueJob();
  await world.gitHub.failNext({ path: JIT, status: 409, times: 1_000 });
  await goOn();
  expect((await world.workers()).filter(({ status }) => status === 'failed')).toHaveLength(3);
  expect(await reasons()).toEqual([{ wait_reason: 'workers_failing' }]);
  expect(await world.failing()).toMatchObject([
    { entity: 'acme', pool: 'linux', failureClass: 'conflict', pauses: 1 },
  ]);

  await world.gitHub.clearFaults();
  await world.settle();
  expect(await world.failing()).toEqual([]);
  expect(
    await world.db
      .selectFrom('demand_keys')
      .select(['waiting', 'unassigned', 'wait_reason'])
      .execute(),
  ).toEqual([{ waiting: 1, unassigned: 1, wait_reason: null }]);
});

test('409 to every registration at one repository: the others of its entity go on (C11, P6)', async () => {
  const sam = await world.addUser('sam', ['one', 'two']);
  await world.queueJobOf(sam, 'one');
  await world.gitHub.failNext({
    path: `/repos/sam/one/actions/runners${JIT}`,
    status: 409,
    times: 1_000,
  });
  await goOn();
  expect((await world.workers()).filter(({ status }) => status === 'failed')).toHaveLength(3);
  expect(await reasons()).toEqual([{ wait_reason: 'workers_failing' }]);

  await world.queueJobOf(sam, 'two');
  await goOn(1);
  const scopes = (await world.gitHub.truth()).runners.map(({ scope }) => scope);
  expect(scopes.filter((scope) => scope.startsWith('sam/'))).toEqual(['sam/two']);
});
