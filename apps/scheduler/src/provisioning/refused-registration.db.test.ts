import { expect, test } from '@jest/globals';
import { endRefusals, endRefusalsOfApp } from '@paddock/db/entities/refusals';
import { APP_ID } from '../scenes/settings.scene.ts';
import { useEvidence, useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld({ kubelet: false });
const seen = useEvidence(world);

/** GitHub answers all about the entity, and lets the App register no runner. */
async function refuseRegistrations(login: string) {
  const user = await world.addUser(login, ['tool']);
  await world.queueJobOf(user, 'tool');
  await world.gitHub.failNext({
    path: '/generate-jitconfig$',
    status: 403,
    body: { message: 'Resource not accessible by integration' },
    times: 1_000,
  });
  return user;
}

const key = () =>
  world.db
    .selectFrom('demand_keys')
    .select(['failure_class', 'failure_message', 'failures', 'pauses', 'wait_reason'])
    .executeTakeFirstOrThrow();

/** Another call about the entity is answered, as those of discovery are, and the next run follows. */
async function tryAgain(entityId: number): Promise<void> {
  await world.match();
  await world.makeDue();
  await world.runTasks();
  const repoId = (await world.workers())[0]?.scope_repo_id ?? 0;
  await endRefusals(world.db, { appId: APP_ID, entityId, repoId });
  await world.makeDue();
}

test('registrations that GitHub refuses while it answers all else are tried ever more rarely (C11, P4)', async () => {
  const { id } = await refuseRegistrations('sam');
  for (let n = 0; n < 6; n += 1) await tryAgain(id);
  await world.match();
  expect(await key()).toMatchObject({
    failure_class: 'github_refused',
    failure_message: expect.stringContaining('GitHub answered 403 to POST /repos/sam/tool'),
    failures: 3,
    pauses: 1,
    wait_reason: 'installation_refused',
  });
});

test.each([
  [
    'of the installation',
    'kim',
    () => world.db.updateTable('installations').set({ updated_at: new Date() }).execute(),
  ],
  ['that another key is configured', 'nora', () => endRefusalsOfApp(world.db, APP_ID)],
])(
  'news %s end what registrations were refused before, at once (C9)',
  async (_what, login, bringNews) => {
    const { id } = await refuseRegistrations(login);
    for (let n = 0; n < 6; n += 1) await tryAgain(id);
    expect(await key()).toMatchObject({ pauses: 1 });
    await world.gitHub.clearFaults();
    await bringNews();
    expect(await world.failing()).toEqual([]);
    await world.match();
    await world.settle();
    await seen.expectOneWorker();
  },
);
