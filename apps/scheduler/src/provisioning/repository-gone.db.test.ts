import { describe, expect, test } from '@jest/globals';
import { useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld({ kubelet: false });

const scopes = async (login: string) =>
  (await world.gitHub.truth()).runners
    .map(({ scope }) => scope)
    .filter((scope) => scope.startsWith(`${login}/`));
const refused = async (table: 'installations' | 'repositories') =>
  (
    await world.db
      .selectFrom(table)
      .select('refused_reason')
      .where('refused_since', 'is not', null)
      .execute()
  ).map(({ refused_reason }) => refused_reason);
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
    expect(await refused('repositories')).toEqual(['repository_gone']);

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
    await world.settle();
    expect(await refused('repositories')).toEqual([]);
    expect(await scopes('kim')).toEqual(['kim/hidden', 'kim/hidden', 'kim/hidden']);
  });

  test('an entity whose installation is gone is held back as a whole all the same (C9)', async () => {
    const lee = await world.addUser('lee', ['one']);
    for (let n = 0; n < 3; n += 1) await world.queueJobOf(lee, 'one');
    await world.gitHub.uninstall(lee.installationId);
    await world.settle();
    expect(await refused('installations')).toEqual(['installation_gone']);
  });
});
