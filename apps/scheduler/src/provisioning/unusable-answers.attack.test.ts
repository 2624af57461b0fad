import { expect, test } from '@jest/globals';
import { useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld({ kubelet: false });

const registeredAt = async () => (await world.gitHub.truth()).runners.map(({ scope }) => scope);

test('answers that send us to another server hold back the entity whose registrations they are, and no other (P6)', async () => {
  const other = await world.addUser('sam', ['one']);
  await world.queueJob();
  const headers = { location: 'http://localhost:1/stolen' };
  await world.gitHub.failNext({
    path: '/orgs/.*/generate-jitconfig$',
    times: 1_000,
    status: 307,
    headers,
  });
  for (let pass = 0; pass < 5; pass += 1) {
    await world.match();
    await world.runTasks();
  }
  expect(await world.failing()).toMatchObject([
    { entity: 'acme', failureClass: 'unusable', pauses: 1 },
  ]);
  expect(await world.db.selectFrom('demand_keys').select('wait_reason').execute()).toEqual([
    { wait_reason: 'workers_failing' },
  ]);

  await world.queueJobOf(other, 'one');
  await world.match();
  await world.runTasks();
  expect(await registeredAt()).toContain('sam/one');

  await world.gitHub.clearFaults();
  await world.settle();
  expect(await world.failing()).toEqual([]);
});
