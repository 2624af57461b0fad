import { describe, expect, test } from '@jest/globals';
import { useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld({ kubelet: false });

const scopes = async (login: string) =>
  (await world.gitHub.truth()).runners
    .map(({ scope }) => scope)
    .filter((scope) => scope.startsWith(`${login}/`));
const breakers = () =>
  world.db
    .selectFrom('breakers')
    .select(['subject_type', 'failure_class', 'pauses'])
    .where('failure_class', '<>', 'refused')
    .execute();
const reasons = async () =>
  (await world.db.selectFrom('demand_keys').select('wait_reason').orderBy('waiting').execute()).map(
    (key) => key.wait_reason,
  );

describe('a repository that the App can no longer see', () => {
  test('holds back its own jobs, and the entity’s other repositories go on (C11, P1, P5)', async () => {
    const sam = await world.addUser('sam', ['gone', 'there']);
    for (let n = 0; n < 4; n += 1) await world.queueJobOf(sam, 'gone');
    await world.gitHub.selectRepositories(sam.installationId, ['sam/there']);
    await world.match();
    await world.runTasks();
    expect(await breakers()).toEqual([
      { subject_type: 'repository', failure_class: 'not_found', pauses: 1 },
    ]);

    await world.queueJobOf(sam, 'there');
    await world.match();
    await world.runTasks();
    expect(await scopes('sam')).toEqual(['sam/there']);
    expect(await reasons()).toEqual([null, 'repository_gone']);
  });

  test('is tried again after its pause, and served once it is back (C11)', async () => {
    const kim = await world.addUser('kim', ['hidden', 'other']);
    for (let n = 0; n < 3; n += 1) await world.queueJobOf(kim, 'hidden');
    await world.gitHub.selectRepositories(kim.installationId, ['kim/other']);
    await world.settle();
    await world.gitHub.selectRepositories(kim.installationId, 'all');
    await world.db
      .updateTable('breakers')
      .set({ paused_until: new Date(0) })
      .execute();
    await world.makeDue();
    await world.settle();
    expect(await breakers()).toEqual([]);
    expect(await scopes('kim')).toEqual(['kim/hidden', 'kim/hidden', 'kim/hidden']);
  });

  test('an entity whose installation is gone is held back as a whole all the same (C9)', async () => {
    const lee = await world.addUser('lee', ['one']);
    for (let n = 0; n < 3; n += 1) await world.queueJobOf(lee, 'one');
    await world.gitHub.uninstall(lee.installationId);
    await world.settle();
    expect((await breakers()).map((breaker) => breaker.subject_type)).toEqual(['installation']);
  });
});
