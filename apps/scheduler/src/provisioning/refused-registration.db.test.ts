import { beforeEach, expect, test } from '@jest/globals';
import { endRefusals, endRefusalsOfApp } from '@paddock/db/entities/refusals';
import { APP_ID } from '../scenes/settings.scene.ts';
import { useEvidence, useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld({ kubelet: false });
beforeEach(() => world.db.deleteFrom('installations').execute());
const seen = useEvidence(world);

const JIT = '/generate-jitconfig$';
const events = () => world.db.selectFrom('installation_events').selectAll().execute();
const runDue = async () => {
  await world.match();
  await world.makeDue();
  await world.runTasks();
};

test.each([
  [404, 'auth_attempt.404', 'auth_404'],
  [403, 'auth_attempt.other_error', 'auth_other_error'],
])(
  'a refusal with %i is recorded with all that explains it, backed off, and has the Apps checked (A12, C9, P5)',
  async (status, event, outcome) => {
    const { made_for_job_id: jobId } = await world.reserve();
    await world.gitHub.failNext({ path: JIT, status });
    await world.runTasks();
    expect(await events()).toMatchObject([
      {
        source: 'scheduler',
        event,
        outcome,
        job_id: jobId,
        installation_id: world.installationId,
        payload: {
          operation: 'POST /orgs/acme/actions/runners/generate-jitconfig',
          http_status: status,
          message: expect.any(String),
          app_id: APP_ID,
          installation_id: world.installationId,
          entity: { id: world.entityId, name: 'acme', type: 'Organization' },
          job_id: jobId,
        },
      },
    ]);
    const [task] = await seen.tasks();
    expect((task?.due_at.getTime() ?? 0) - Date.now()).toBeGreaterThan(50_000);
    const checks = world.db.selectFrom('tasks').select('status').where('kind', '=', 'check-apps');
    expect(await checks.execute()).toEqual([{ status: 'queued' }]);
    await world.settle();
    await seen.expectOneWorker();
  },
);

test('an installation that is gone is asked for once each time, by one worker (C9, C11, P4)', async () => {
  const kim = await world.addUser('kim', ['tool']);
  for (let n = 0; n < 5; n += 1) await world.queueJobOf(kim, 'tool');
  await world.gitHub.uninstall(kim.installationId);
  const refusals: number[] = [];
  for (let n = 0; n < 3; n += 1) {
    await runDue();
    await world.match();
    expect(await world.alive()).toEqual([]);
    refusals.push((await events()).length);
    await world.endRefusedTimes();
    await world.endPauses();
  }
  // At first those that were begun side by side.
  expect(refusals[0]).toBeLessThanOrEqual(5);
  expect(refusals.map((count) => count - (refusals[0] ?? 0))).toEqual([0, 1, 2]);
});

/**
 * GitHub answers all about the user, as when discovery asks, and lets the App register no runner,
 * six times.
 */
async function refuseRegistrations(login: string): Promise<void> {
  const user = await world.addUser(login, ['tool']);
  await world.queueJobOf(user, 'tool');
  const body = { message: 'Resource not accessible by integration' };
  await world.gitHub.failNext({ path: JIT, status: 403, body, times: 1_000 });
  for (let n = 0; n < 6; n += 1) {
    await runDue();
    const repoId = (await world.workers())[0]?.scope_repo_id ?? 0;
    await endRefusals(world.db, { appId: APP_ID, entityId: user.id, repoId });
    await world.makeDue();
  }
}

test('registrations that GitHub refuses while it answers all else are tried ever more rarely (C11, P4)', async () => {
  await refuseRegistrations('lena');
  await world.match();
  expect(await world.failing()).toMatchObject([
    {
      failureClass: 'github_refused',
      message: expect.stringContaining('GitHub answered 403 to POST /repos/lena/tool'),
      failures: 3,
      pauses: 1,
    },
  ]);
  expect(await world.reasons()).toEqual(['installation_refused']);
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
    await refuseRegistrations(login);
    expect(await world.failing()).toMatchObject([{ pauses: 1 }]);
    await world.gitHub.clearFaults();
    await bringNews();
    expect(await world.failing()).toEqual([]);
    await world.match();
    await world.settle();
    await seen.expectOneWorker();
  },
);
