import { beforeEach, describe, expect, test } from '@jest/globals';
import { examplePools } from '@paddock/testing/demand-rows';
import { endRefusals, endRefusalsOfApp } from '@paddock/db/entities/refusals';
import { APP_ID } from '../scenes/settings.scene.ts';
import { useEvidence, useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld({ kubelet: false });
beforeEach(async () => {
  await world.db.deleteFrom('installations').execute();
});
const seen = useEvidence(world);

const installations = () =>
  world.db.selectFrom('installations').select(['installation_id', 'login']).execute();
const events = async () =>
  (await world.db.selectFrom('installation_events').select('event').execute()).map(
    ({ event }) => event,
  );
const dueInMs = async () => ((await seen.tasks())[0]?.due_at.getTime() ?? 0) - Date.now();

describe('an installation that is refused is looked up as the App (A12)', () => {
  test('installed anew without a delivery: the job gets its worker a second later, and the refusal stays on record (C9, P5)', async () => {
    const sam = await world.addUser('sam', ['tool']);
    await world.queueJobOf(sam, 'tool');
    await world.gitHub.uninstall(sam.installationId);
    const { id } = await world.gitHub.install({ appId: 1001, account: 'sam', announce: false });
    await world.match();
    await world.runTasks();
    expect(await events()).toEqual(['auth_attempt.404']);
    expect(await installations()).toEqual([{ installation_id: id, login: 'sam' }]);
    expect(await dueInMs()).toBeLessThan(2_000);
    await world.settle();
    await seen.expectOneWorker();
  });

  test.each([
    ['a user', async () => world.queueJobOf(await world.addUser('nora', ['tool']), 'tool')],
    ['an organisation', () => world.queueJob()],
  ])(
    'unknown, because the delivery did not name it: %s is asked for it, and no other entity is affected (C11)',
    async (_whose, queue) => {
      await queue();
      await world.db.updateTable('jobs').set({ installation_id: 0 }).execute();
      await world.db.deleteFrom('installations').execute();
      await world.match();
      await world.runTasks();
      expect(await events()).toEqual(['auth_attempt.404']);
      expect(await installations()).toHaveLength(1);
      await world.settle();
      await seen.expectOneWorker();
    },
  );

  test('renamed to a login that the file gives another entity: no runner is registered under it', async () => {
    const eve = await world.addUser('eve', ['tool']);
    await world.queueJobOf(eve, 'tool');
    await world.match();
    await world.gitHub.renameAccount('eve', 'victim');
    await world.db.insertInto('login_pins').values({ login: 'victim', entity_id: 1 }).execute();
    await world.putPools(examplePools({ entities: { victim: {}, '*': {} } }));
    await world.runTasks();
    expect(await installations()).toEqual([
      { installation_id: eve.installationId, login: 'victim' },
    ]);
    expect(await dueInMs()).toBeGreaterThan(2_000);
    await world.settle();
    expect(await seen.registrations()).toEqual([]);
    expect(await seen.alive()).toEqual([]);
    await world.db.deleteFrom('login_pins').execute();
  });

  test('gone: afterwards it is looked up once each time, by one worker (C9, C11, P4)', async () => {
    const kim = await world.addUser('kim', ['tool']);
    for (let n = 0; n < 5; n += 1) await world.queueJobOf(kim, 'tool');
    await world.gitHub.uninstall(kim.installationId);
    const refusals: number[] = [];
    for (let n = 0; n < 3; n += 1) {
      await world.match();
      await world.makeDue();
      await world.runTasks();
      await world.match();
      expect(await seen.alive()).toEqual([]);
      refusals.push((await events()).length);
      await world.endRefusedTimes();
      await world.endPauses();
    }
    // At first those that were begun side by side.
    expect(refusals[0]).toBeLessThanOrEqual(5);
    expect(refusals.map((count) => count - (refusals[0] ?? 0))).toEqual([0, 1, 2]);
  });
});

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
  const { id } = await refuseRegistrations('lena');
  for (let n = 0; n < 6; n += 1) await tryAgain(id);
  await world.match();
  expect(await world.failing()).toMatchObject([
    {
      failureClass: 'github_refused',
      message: expect.stringContaining('GitHub answered 403 to POST /repos/lena/tool'),
      failures: 3,
      pauses: 1,
    },
  ]);
  expect(await world.db.selectFrom('demand_keys').select('wait_reason').execute()).toEqual([
    { wait_reason: 'installation_refused' },
  ]);
});

test.each([
  [
    'of the installation',
    'olaf',
    () => world.db.updateTable('installations').set({ updated_at: new Date() }).execute(),
  ],
  ['that another key is configured', 'ida', () => endRefusalsOfApp(world.db, APP_ID)],
])(
  'news %s end what registrations were refused before, at once (C9)',
  async (_what, login, bringNews) => {
    const { id } = await refuseRegistrations(login);
    for (let n = 0; n < 6; n += 1) await tryAgain(id);
    expect(await world.failing()).toMatchObject([{ pauses: 1 }]);
    await world.gitHub.clearFaults();
    await bringNews();
    expect(await world.failing()).toEqual([]);
    await world.match();
    await world.settle();
    await seen.expectOneWorker();
  },
);
