import { describe, expect, test } from '@jest/globals';
import { useJobsScene } from '../scenes/use-scenes.scene.ts';
import { useTestDatabase } from '@paddock/testing/use-test-database';

const scene = useJobsScene(useTestDatabase());

describe('one call of GitHub', () => {
  test('whether a run is over, however many of its jobs stay queued (E4, P4)', async () => {
    const first = await scene.addJob();
    const { runId = 0 } =
      (await scene.world.github.truth()).jobs.find(({ id }) => id === first) ?? {};
    for (let index = 0; index < 4; index++) await scene.addJob({ job: { runId } });
    await scene.lookUp();
    await scene.passTime();
    await scene.db
      .updateTable('jobs')
      .set({ lookup_due_at: new Date(0) })
      .execute();
    expect(await scene.lookUp()).toMatchObject({ jobs: 5, runs: 1, queued: 5 });
    expect(await scene.calls('actions/get-workflow-run')).toBe(1);
  });

  test('for an entity where the App is no longer installed, and the reason is stored (C9)', async () => {
    const ofMona = await scene.addJob({ job: { repo: 'mona/tool' } });
    for (let index = 0; index < 3; index++) await scene.addJob();
    await scene.world.github.uninstall(scene.world.organization.installationId);
    expect(await scene.lookUp()).toMatchObject({ runs: 1, unanswered: 3, hidden: 1 });
    expect(await scene.events()).toEqual([
      expect.objectContaining({ event: 'auth_attempt.404', outcome: 'auth_404' }),
    ]);
    expect(await scene.row(ofMona)).toMatchObject({ looked_up_at: expect.any(Date) });
  });
});

test('a repository that GitHub does not show is recorded as an event of each of its jobs, once a day (P5, E4)', async () => {
  const jobs = [await scene.addJob(), await scene.addJob()];
  await scene.world.github.selectRepositories(scene.world.organization.installationId, []);
  const hidden = () =>
    scene.db
      .selectFrom('installation_events')
      .selectAll()
      .where('event', '=', 'discovered.hidden')
      .orderBy('id')
      .execute();
  for (let pass = 0; pass < 2; pass++) {
    await scene.lookUp();
    await scene.passTime();
  }
  expect((await hidden()).map(({ job_id: jobId }) => jobId)).toEqual(
    jobs.toSorted((a, b) => a - b),
  );
  const payload = {
    repository: 'acme/api',
    message: expect.stringContaining('not selected for it'),
  };
  expect((await hidden())[0]).toMatchObject({
    outcome: 'repository_hidden',
    repo_id: scene.world.repositories.api,
    payload,
  });
  await scene.db
    .updateTable('installation_events')
    .set({ received_at: new Date(0) })
    .execute();
  await scene.db
    .updateTable('jobs')
    .set({ lookup_due_at: new Date(0) })
    .execute();
  await scene.lookUp();
  expect(await hidden()).toHaveLength(4);
});
