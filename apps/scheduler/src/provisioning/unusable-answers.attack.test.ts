import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type SchedulerWorld, startSchedulerWorld } from '../scheduler.scene.ts';

let world: SchedulerWorld;
beforeAll(async () => {
  world = await startSchedulerWorld({ kubelet: false });
});
afterAll(() => world.stop());
beforeEach(() => world.reset());

const registeredAt = async () => (await world.gitHub.truth()).runners.map(({ scope }) => scope);

test.each<[string, string, object]>([
  ['that are too long', 'sam', { status: 201, body: { text: 'x'.repeat(9_000_000) } }],
  ['that send us to another server', 'tom', { status: 307, headers: { location: 'http://localhost:1/stolen' } }],
])('answers %s to one account’s registrations hold back that account alone (P6)', async (_what, login, answer) => {
  const other = await world.addUser(login, ['one']);
  await world.queueJob();
  await world.gitHub.failNext({ path: '/orgs/.*/generate-jitconfig$', times: 1_000, ...answer });
  for (let pass = 0; pass < 5; pass += 1) {
    await world.match();
    await world.runTasks();
  }
  expect(await world.db.selectFrom('breakers').select(['subject_type', 'subject_id', 'failure_class']).execute()).toEqual([
    { subject_type: 'installation', subject_id: String(world.entityId), failure_class: 'unusable' },
  ]);
  expect(await world.db.selectFrom('demand_keys').select('wait_reason').execute()).toEqual([{ wait_reason: 'installation_refused' }]);

  await world.queueJobOf(other, 'one');
  await world.match();
  await world.runTasks();
  expect(await registeredAt()).toContain(`${login}/one`);

  await world.gitHub.clearFaults();
  await world.settle();
  expect(await world.db.selectFrom('breakers').select('failure_class').execute()).toEqual([]);
});
