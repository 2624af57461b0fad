import { useTestDatabase } from '@paddock/testing/use-test-database';
import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { useJobsScene } from '../scenes/use-scenes.scene.ts';

const scene = useJobsScene(useTestDatabase());

const hide = () =>
  scene.world.github.selectRepositories(scene.world.organization.installationId, []);
const show = () =>
  scene.world.github.selectRepositories(scene.world.organization.installationId, 'all');
/** As if GitHub had been asked for the last time `minutes` earlier, and the next look-up were due. */
const letPass = (minutes: number) => {
  const interval = sql`${minutes} * interval '1 minute'`;
  return sql`update jobs set hidden_since = hidden_since - ${interval}, unanswered_since = unanswered_since - ${interval}, lookup_due_at = now()`.execute(
    scene.db,
  );
};
const row = async (jobId: number) =>
  scene.db
    .selectFrom('jobs')
    .select(['status', 'wants_worker', 'hidden_since', 'failure_info'])
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow();

describe('a job whose repository GitHub hides (E3, P6)', () => {
  test('is no demand from the second time, ten minutes later, and demand again with GitHub’s first answer', async () => {
    const job = await scene.addJob();
    await hide();
    expect(await scene.lookUp()).toMatchObject({ unanswered: 1, hidden: 1 });
    expect(await row(job)).toMatchObject({ wants_worker: true, hidden_since: expect.any(Date) });
    await letPass(9);
    await scene.lookUp();
    expect(await row(job)).toMatchObject({ wants_worker: true });
    await letPass(2);
    await scene.lookUp();
    expect(await row(job)).toMatchObject({ status: 'pending', wants_worker: false });
    await show();
    await letPass(10);
    expect(await scene.lookUp()).toMatchObject({ requeued: 1 });
    expect(await row(job)).toMatchObject({ wants_worker: true, hidden_since: null });
  });

  test('by 403 for its run and for itself is hidden as well; by 403 for the run alone it is refused', async () => {
    const job = await scene.addJob();
    await scene.world.github.failNext({ path: '/actions/runs/', status: 403 });
    await scene.world.github.failNext({ path: '/repositories/', status: 403 });
    await scene.lookUp();
    expect(await row(job)).toMatchObject({ hidden_since: expect.any(Date) });
    expect(scene.unanswered).toEqual(['invisible']);
    await letPass(1);
    await scene.lookUp();
    await sql`update jobs set lookup_due_at = now()`.execute(scene.db);
    await scene.world.github.failNext({ path: '/actions/runs/', status: 403 });
    await scene.lookUp();
    expect(await row(job)).toMatchObject({ hidden_since: null });
    expect(scene.unanswered).toEqual(['invisible', 'forbidden']);
  });

  test('for two days has failed, and says why', async () => {
    const job = await scene.addJob();
    await hide();
    await scene.lookUp();
    await letPass(47 * 60);
    await scene.lookUp();
    expect(await row(job)).toMatchObject({ status: 'pending', wants_worker: false });
    await letPass(61);
    await scene.lookUp();
    const message = 'GitHub has not shown its repository to the App for two days';
    expect(await row(job)).toMatchObject({ status: 'failed', failure_info: { message } });
  });

  test('and that runs on a live worker does not fail', async () => {
    const name = await scene.startRunner();
    const job = await scene.addJob({
      row: { status: 'running', wants_worker: false, k8s_pod: name },
    });
    await hide();
    await scene.lookUp();
    await letPass(49 * 60);
    await scene.lookUp();
    expect(await row(job)).toMatchObject({ status: 'running' });
  });
});
