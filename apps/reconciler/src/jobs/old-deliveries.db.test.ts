import { expect, test } from '@jest/globals';
import { currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import { recordJobs } from '@paddock/db/jobs/record-jobs';
import { queuedJob } from '@paddock/domain/scenes/queued-job.scene';
import { useJobsScene } from '../scenes/use-scenes.scene.ts';
import { useTestDatabase } from '@paddock/testing/use-test-database';

const database = useTestDatabase();
const scene = useJobsScene(database);

const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();

/**
 * A job at GitHub, and the `queued` delivery of it, which is so old. Without a job at GitHub it is
 * of one that GitHub has forgotten.
 */
async function deliverQueued(
  hours: number,
  { isAtGitHub = true, waiting = false } = {},
): Promise<number> {
  const job = await scene.world.github.queueJob({ repo: 'acme/api', labels: ['linux'], waiting });
  const { organization, appId } = scene.world;
  const pools = await currentPoolsDocument(database.db);
  if (pools === undefined) throw new Error('There has to be a pools document.');
  const { id, login, installationId } = organization;
  const statement = {
    ...queuedJob({
      jobId: isAtGitHub ? job.id : job.id + 1_000_000,
      runId: job.runId,
      runAttempt: job.attempt,
      queuedAt: hoursAgo(hours),
      entity: { id, login, type: 'Organization' },
      repoId: job.repositoryId,
      repoFullName: job.repo,
      installationId,
    }),
    appId,
    deliveryGuid: crypto.randomUUID(),
  };
  await database.db.transaction().execute((trx) => recordJobs(trx, [statement], pools));
  return statement.jobId;
}

test('a queued delivery of up to a day ago is demand at once: an outage may have been as long (E1)', async () => {
  const job = await deliverQueued(23);
  expect(await scene.row(job)).toMatchObject({
    status: 'pending',
    wants_worker: true,
    lookup_due_at: null,
  });
});

test('an older one is no demand before GitHub was asked, and is after its first answer: it may have waited for an approval', async () => {
  const job = await deliverQueued(25);
  expect(await scene.row(job)).toMatchObject({ status: 'pending', wants_worker: false });
  expect(await scene.lookUp()).toMatchObject({ runs: 1, requeued: 1 });
  expect(await scene.row(job)).toMatchObject({
    status: 'pending',
    wants_worker: true,
    lookup_due_at: null,
  });
});

test('an older one of a job that has ended never was demand', async () => {
  const job = await deliverQueued(25);
  await scene.world.github.cancelJob(job);
  expect(await scene.lookUp()).toMatchObject({ stated: 1 });
  expect(await scene.row(job)).toMatchObject({
    status: 'completed',
    wants_worker: false,
    lookup_due_at: null,
  });
});

test('an older one of a job that GitHub has forgotten fails on the second look, so that its row can be retired', async () => {
  const job = await deliverQueued(24 * 365, { isAtGitHub: false });
  expect(await scene.lookUp()).toMatchObject({ gone: 1 });
  await scene.passTime();
  expect(await scene.lookUp()).toMatchObject({ failed: 1 });
  expect(await scene.row(job)).toMatchObject({
    status: 'failed',
    wants_worker: false,
    lookup_due_at: null,
  });
});

test('an older one that GitHub still calls waiting is looked up until it is queued: one stale answer does not forget it', async () => {
  const job = await deliverQueued(30, { waiting: true });
  for (let look = 0; look < 2; look++) {
    expect(await scene.lookUp()).toMatchObject({ answered: 1 });
    expect(await scene.lookUp()).toMatchObject({ jobs: 0 });
    await scene.passTime();
  }
  await scene.world.github.approveJob(job);
  expect(await scene.lookUp()).toMatchObject({ requeued: 1 });
  expect(await scene.row(job)).toMatchObject({
    status: 'pending',
    wants_worker: true,
    lookup_due_at: null,
  });
});

test('an older one that waits for days is looked up ever more rarely', async () => {
  const job = await deliverQueued(30, { waiting: true });
  const hours = async () => {
    const { lookup_due_at: dueAt } = await scene.row(job);
    return Math.round(((dueAt?.getTime() ?? 0) - Date.now()) / 3_600_000);
  };
  const waits: number[] = [];
  for (const age of [3, 100]) {
    await database.db
      .updateTable('jobs')
      .set({ created_at: new Date(hoursAgo(age)), lookup_due_at: new Date(0) })
      .execute();
    await scene.lookUp();
    waits.push(await hours());
  }
  expect(waits).toEqual([3, 6]);
});

test('an older one whose run is over fails on the second look: its delivery did not name the run', async () => {
  const job = await deliverQueued(25);
  const { runId } = (await scene.world.github.truth()).jobs[0] ?? {};
  const ended = { id: runId, run_attempt: 1, status: 'completed', conclusion: 'cancelled' };
  await scene.world.github.failNext({
    method: 'GET',
    path: '/actions/runs/\\d+$',
    status: 200,
    times: 9,
    body: ended,
  });
  expect(await scene.lookUp()).toMatchObject({ queued: 1 });
  expect(await scene.row(job)).toMatchObject({ status: 'pending', wants_worker: false });
  await scene.passTime();
  expect(await scene.lookUp()).toMatchObject({ failed: 1 });
  expect(await scene.row(job)).toMatchObject({
    status: 'failed',
    wants_worker: false,
    conclusion: 'cancelled',
  });
});
