import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { examplePools, putInstallation } from '@paddock/testing/demand-rows';
import { sql } from 'kysely';
import { describeAccess } from './look-up-access.ts';
import { type SchedulerWorld, startSchedulerWorld } from '../scenes/scheduler.scene.ts';
import { APP_ID } from '../scenes/settings.scene.ts';

const LIST = 'actions/list-self-hosted-runner-groups-for-org';

let world: SchedulerWorld;
beforeAll(async () => {
  world = await startSchedulerWorld({ kubelet: false });
  const { entityId, installationId } = world;
  await putInstallation(world.db, {
    entity_id: entityId,
    app_id: APP_ID,
    installation_id: installationId,
  });
});
afterAll(() => world.stop());
beforeEach(async () => {
  await world.reset();
  await world.putPools(examplePools({ pools: [{ runnerGroup: 'Ours' }] }));
});

/** Two workers in a row, idle for long although a job of theirs waits, as GitHub says. */
async function goUnserved(): Promise<void> {
  await world.queueJob();
  await world.db
    .updateTable('jobs')
    .set({ looked_up_at: sql`now()` })
    .execute();
  for (let round = 0; round < 3; round += 1) {
    await world.match();
    await world.db
      .updateTable('workers')
      .set({ status: 'failed', completed_at: new Date() })
      .where('stopping_at', 'is not', null)
      .where('status', '=', 'pending')
      .execute();
    await world.db
      .updateTable('workers')
      .set({ stopping_at: sql`now()`, stop_reason: 'not_assigned' })
      .where('status', '=', 'pending')
      .execute();
  }
}

const accesses = async () =>
  (await world.failing()).flatMap(({ failureClass, message }) =>
    failureClass === 'not_assigned' ? [message] : [],
  );
const tasks = () =>
  world.db.selectFrom('tasks').select('id').where('kind', '=', 'look-up-access').execute();
const makeGroup = (visibility: 'selected') =>
  world.github
    .asInstallation({ appId: APP_ID, installationId: world.installationId, entityId: 0 })
    .octokit.request('POST /orgs/{org}/actions/runner-groups', {
      org: 'acme',
      name: 'ours',
      visibility,
    });

describe('the access of an unserved key’s runner group (C11)', () => {
  test('is asked for once, and kept for the operator (P4, P5)', async () => {
    await makeGroup('selected');
    await goUnserved();
    expect(await tasks()).toHaveLength(1);
    const before = (await world.gitHub.report()).calls[LIST] ?? 0;
    await world.runTasks();
    expect(await accesses()).toEqual([
      expect.stringMatching(
        /^The runner group ours takes jobs only of repositories that were selected for it/,
      ),
    ]);
    expect((await world.gitHub.report()).calls[LIST]).toBe(before + 1);
    await world.match();
    expect(await tasks()).toEqual([]);
  });
});

const group = {
  name: 'Ours',
  visibility: 'all',
  allowsPublicRepositories: true,
  workflows: null,
} as const;
test.each([
  [undefined, 'There is no runner group named Ours'],
  [group, 'takes jobs of all repositories and workflows'],
  [{ ...group, allowsPublicRepositories: false }, 'only of repositories that are not public'],
  [{ ...group, visibility: 'private' as const }, 'only of private repositories'],
  [
    {
      ...group,
      visibility: 'selected' as const,
      workflows: ['acme/ci/.github/workflows/a.yml@main'],
    },
    'selected for it, and only of the workflows acme/ci',
  ],
  [{ ...group, workflows: [] }, 'only of the workflows (none)'],
])('describes a runner group’s access: %j (C11)', (access, expected) => {
  expect(describeAccess('Ours', access)).toContain(expected);
});
