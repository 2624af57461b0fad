import { describe, expect, test } from '@jest/globals';
import { installationOf } from '@paddock/simulators/scenes/small-world.scene';
import { minutesAgo, putInstallation, putWorker } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { useJobsScene } from '../scenes/jobs.scene.ts';

const scene = useJobsScene(useTestDatabase());

const JOBS_OF_RUN = 'actions/list-jobs-for-workflow-run';
const running = { status: 'running', wants_worker: false } as const;

const gone = { method: 'GET', path: '/actions/runs/\\d+/jobs$', status: 404 };

describe('a job in doubt (E4)', () => {
  test('that GitHub has completed is completed, by the statement that writes deliveries’ jobs, with an event (A5)', async () => {
    const job = await scene.addJob({ row: running });
    await scene.world.github.cancelJob(job);
    expect(await scene.lookUp()).toMatchObject({ runs: 1, stated: 1, unanswered: 0 });
    const ended = { status: 'completed', conclusion: 'cancelled', lookup_due_at: null };
    expect(await scene.row(job)).toMatchObject(ended);
    expect(await scene.events()).toEqual([
      { event: 'discovered.completed', outcome: 'job_marked_completed', job_id: job },
    ]);
    expect(await scene.lookUp()).toMatchObject({ jobs: 0, runs: 0 });
  });

  test('costs one call per run, however many of its jobs are in doubt, and one more says whether the run is over (P4)', async () => {
    const first = await scene.addJob();
    const runId = await scene.runOf(first);
    for (let index = 0; index < 120; index++) await scene.addJob({ job: { runId } });
    await scene.addJob({ job: { repo: 'mona/tool' } });
    expect(await scene.lookUp()).toMatchObject({ jobs: 122, runs: 2, queued: 122 });
    // Two pages for the large run, one for the other.
    expect(await scene.calls(JOBS_OF_RUN)).toBe(3);
    const { calls } = await scene.world.github.report();
    const token = 'apps/create-installation-access-token';
    expect(Object.keys(calls).toSorted()).toEqual([JOBS_OF_RUN, token]);
    await scene.passTime();
    await scene.makeDue();
    expect(await scene.lookUp()).toMatchObject({ jobs: 122, runs: 2, queued: 122 });
    expect(await scene.calls('actions/get-workflow-run')).toBe(2);
  });

  test('that Paddock failed and GitHub completed is misjudged (A6)', async () => {
    const job = await scene.addJob({ row: { status: 'failed', wants_worker: false } });
    await scene.world.github.cancelJob(job);
    await scene.lookUp();
    const misjudged = { status: 'failed', misjudged: true, conclusion: 'cancelled' };
    expect(await scene.row(job)).toMatchObject(misjudged);
    expect(scene.told('jobsMisjudged')).toEqual([[[job]]]);
  });

  test('is found in an entity, an installation and a repository that have other names now (A12)', async () => {
    const before = { entity_name: 'old', repo_full_name: 'old/api-before', installation_id: 1 };
    const job = await scene.addJob({ row: before });
    await putInstallation(scene.db, installationOf(scene.world.organization));
    await scene.world.github.cancelJob(job);
    expect(await scene.lookUp()).toMatchObject({ stated: 1 });
    expect(await scene.row(job)).toMatchObject({ status: 'completed' });
  });
});

describe('a job that GitHub calls queued', () => {
  test('twice, without a runner, is demand again, with any status in our row; while a live worker is bound to it, it is none (A6, P3)', async () => {
    const { pod_name: k8s_pod } = await putWorker(scene.db, { running_at: minutesAgo(1) });
    const lost = await scene.addJob({ row: running });
    const failed = await scene.addJob({ row: { status: 'failed', wants_worker: false } });
    const end = { conclusion: 'success', completed_at: new Date() };
    const ended = await scene.addJob({ row: { status: 'completed', wants_worker: false, ...end } });
    const row = { ...running, k8s_pod, seen_queued_at: new Date(0) };
    const bound = await scene.addJob({ row });
    expect(await scene.lookUp()).toMatchObject({ queued: 3, answered: 1 });
    expect(await scene.row(lost)).toMatchObject({ ...running, requeues: 0 });
    expect(await scene.lookUp()).toMatchObject({ jobs: 0 });
    await scene.passTime();
    expect(await scene.lookUp()).toMatchObject({ requeued: 3 });
    const again = { wants_worker: true, requeues: 1 };
    const lookup_due_at = null;
    expect(await scene.row(lost)).toMatchObject({ ...again, status: 'running', lookup_due_at });
    const revived = { ...again, status: 'pending', misjudged: true };
    expect(await scene.row(failed)).toMatchObject(revived);
    expect(await scene.row(ended)).toMatchObject({
      ...revived,
      conclusion: null,
      completed_at: null,
    });
    expect(await scene.row(bound)).toMatchObject({ ...running, requeues: 0 });
  });

  const seenBefore = { seen_queued_at: new Date(0), looked_up_at: new Date(0) };

  test('although its run is over fails with the run’s conclusion, on the second look', async () => {
    const job = await scene.addJob();
    const run = { method: 'GET', path: '/actions/runs/\\d+$', status: 200, times: 9 };
    const id = await scene.runOf(job);
    const ended = { id, run_attempt: 1, status: 'completed', conclusion: 'cancelled' };
    await scene.world.github.failNext({ ...run, body: ended });
    expect(await scene.lookUp()).toMatchObject({ queued: 1 });
    await scene.makeDue();
    await scene.passTime();
    expect(await scene.lookUp()).toMatchObject({ failed: 1 });
    const failed = { status: 'failed', wants_worker: false, conclusion: 'cancelled' };
    expect(await scene.row(job)).toMatchObject(failed);
  });

  test('in an attempt of its run that a later one took the place of fails too', async () => {
    const job = await scene.addJob({ row: seenBefore });
    const other = await scene.queue('acme/api', { runId: await scene.runOf(job) });
    await scene.world.github.cancelJob(other);
    await scene.world.github.rerunJob(other);
    expect(await scene.lookUp()).toMatchObject({ failed: 1 });
    expect(await scene.row(job)).toMatchObject({ status: 'failed', conclusion: null });
  });

  test.each([
    ['has ended', { ...running, seen_queued_at: new Date(0) }, { status: 'completed' }],
    // GitHub did not know the job before the approval; that must not be believed now.
    [
      'waits',
      { wants_worker: false, seen_gone_at: new Date(0), run_id: 404_404 },
      { wants_worker: true },
    ],
  ] as const)(
    'and that %s since the call of GitHub is left alone: a row is written as it was read or not at all',
    async (_what, row, moved) => {
      const job = await scene.addJob({ row });
      const { github } = scene;
      const asInstallation: typeof github.asInstallation = (...given) => {
        const client = github.asInstallation(...given);
        client.octokit.hook.after('request', () => scene.setJobs(moved).then(() => undefined));
        return client;
      };
      await scene.lookUp({ github: { ...github, asInstallation } });
      expect(await scene.row(job)).toMatchObject({ ...moved, requeues: 0, looked_up_at: null });
    },
  );
});

describe('a job that GitHub does not know', () => {
  test('fails on the second look, while GitHub shows the repository', async () => {
    const job = await scene.addJob({ row: running });
    await scene.world.github.failNext({ ...gone, times: 9 });
    expect(await scene.lookUp()).toMatchObject({ gone: 1 });
    expect(await scene.row(job)).toMatchObject(running);
    await scene.passTime();
    await scene.world.github.failNext({ method: 'GET', path: '/actions/jobs/', status: 404 });
    expect(await scene.lookUp()).toMatchObject({ failed: 1 });
    const failure_info = { version: 1, message: 'GitHub no longer knows the job' };
    expect(await scene.row(job)).toMatchObject({ status: 'failed', failure_info });
  });

  test('and that is there at the second look starts from the beginning', async () => {
    const job = await scene.addJob({ row: running });
    await scene.world.github.failNext(gone);
    await scene.lookUp();
    await scene.passTime();
    expect(await scene.lookUp()).toMatchObject({ queued: 1, failed: 0 });
    await scene.passTime();
    await scene.world.github.failNext(gone);
    expect(await scene.lookUp()).toMatchObject({ gone: 1, failed: 0 });
    expect(await scene.row(job)).toMatchObject({ status: 'running' });
  });

  test('stays in doubt while GitHub does not show the repository either: that is no answer', async () => {
    const job = await scene.addJob({ row: { ...running, seen_gone_at: new Date(0) } });
    await scene.world.github.selectRepositories(scene.world.organization.installationId, []);
    expect(await scene.lookUp()).toMatchObject({ unanswered: 1, failed: 0 });
    expect(scene.unanswered()).toEqual(['invisible']);
    const { status, looked_up_at: lookedUpAt, lookup_due_at: dueAt } = await scene.row(job);
    expect([status, lookedUpAt]).toEqual(['running', null]);
    expect(dueAt?.getTime()).toBeGreaterThan(Date.now());
  });
});

test('a repository that GitHub does not show is recorded as an event of each of its jobs, once a day (P5, E4)', async () => {
  const jobs = [await scene.addJob(), await scene.addJob()];
  await scene.world.github.selectRepositories(scene.world.organization.installationId, []);
  const events = scene.db
    .selectFrom('installation_events')
    .where('event', '=', 'discovered.hidden');
  const hidden = () => events.selectAll().orderBy('id').execute();
  for (let pass = 0; pass < 2; pass++) {
    await scene.lookUp();
    await scene.passTime();
  }
  const message = expect.stringContaining('not selected for it');
  const payload = { repository: 'acme/api', message };
  expect(await hidden()).toMatchObject(
    jobs.map((job_id) => ({ job_id, outcome: 'repository_hidden', payload })),
  );
  await sql`update installation_events set received_at = 'epoch'`.execute(scene.db);
  await scene.makeDue();
  await scene.lookUp();
  expect(await hidden()).toHaveLength(4);
});

test('a job that the list of its run lacks, and that GitHub knows by its id, goes on (E3)', async () => {
  const job = await scene.addJob({ row: { ...running, seen_gone_at: new Date(0) } });
  await scene.world.github.cancelJob(job);
  await scene.world.github.failNext(gone);
  expect(await scene.lookUp()).toMatchObject({ stated: 1, failed: 0 });
  expect(await scene.row(job)).toMatchObject({ status: 'completed' });
});
