import { describe, expect, test } from '@jest/globals';
import { recordFindings } from '@paddock/db/jobs/record-jobs';
import { currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import { queuedJob } from '@paddock/domain/scenes/deliveries.scene';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { installationOf } from '@paddock/simulators/scenes/small-world.scene';
import { minutesAgo, putInstallation, putWorker } from '@paddock/testing/demand-rows';
import { sql } from 'kysely';
import { useJobsScene } from '../scenes/jobs.scene.ts';

const database = useTestDatabase();
const scene = useJobsScene(database);

const show = (repositories: string[] | 'all') =>
  scene.world.github.selectRepositories(scene.world.organization.installationId, repositories);
/** As if GitHub had been asked for the last time `minutes` earlier, and the next look-up were due. */
const letPass = (minutes: number) =>
  sql`update jobs set lookup_due_at = now(), hidden_since = hidden_since - ${minutes} * interval '1 minute',
    unanswered_since = unanswered_since - ${minutes} * interval '1 minute'`.execute(scene.db);

describe('a job whose repository GitHub hides (E3, P6)', () => {
  test('is no demand from the second time, ten minutes later, and demand again with GitHub’s first answer', async () => {
    const job = await scene.addJob();
    await show([]);
    expect(await scene.lookUp()).toMatchObject({ unanswered: 1, hidden: 1 });
    const hidden = { wants_worker: true, hidden_since: expect.any(Date) };
    expect(await scene.row(job)).toMatchObject(hidden);
    await letPass(9);
    await scene.lookUp();
    expect(await scene.row(job)).toMatchObject({ wants_worker: true });
    await letPass(2);
    await scene.lookUp();
    expect(await scene.row(job)).toMatchObject({ status: 'pending', wants_worker: false });
    await show('all');
    await letPass(10);
    expect(await scene.lookUp()).toMatchObject({ requeued: 1 });
    expect(await scene.row(job)).toMatchObject({ wants_worker: true, hidden_since: null });
  });

  test('by 403 for its run and for itself is hidden as well; by 403 for the run alone it is refused', async () => {
    const job = await scene.addJob();
    await scene.world.github.failNext({ path: '/actions/runs/', status: 403 });
    await scene.world.github.failNext({ path: '/repositories/', status: 403 });
    await scene.lookUp();
    expect(await scene.row(job)).toMatchObject({ hidden_since: expect.any(Date) });
    expect(scene.unanswered()).toEqual(['invisible']);
    await letPass(1);
    await scene.lookUp();
    await scene.makeDue();
    await scene.world.github.failNext({ path: '/actions/runs/', status: 403 });
    await scene.lookUp();
    expect(await scene.row(job)).toMatchObject({ hidden_since: null });
    expect(scene.unanswered()).toEqual(['invisible', 'forbidden']);
  });

  test('for two days has failed, and says why; one that runs on a live worker has not', async () => {
    const job = await scene.addJob();
    const { pod_name: k8s_pod } = await putWorker(scene.db, { running_at: minutesAgo(1) });
    const runs = await scene.addJob({ row: { status: 'running', wants_worker: false, k8s_pod } });
    await show([]);
    await scene.lookUp();
    await letPass(47 * 60);
    await scene.lookUp();
    expect(await scene.row(job)).toMatchObject({ status: 'pending', wants_worker: false });
    await letPass(61);
    await scene.lookUp();
    const message = 'GitHub has not shown its repository to the App for two days';
    expect(await scene.row(job)).toMatchObject({ status: 'failed', failure_info: { message } });
    expect(await scene.row(runs)).toMatchObject({ status: 'running' });
  });
});

const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);

test('a job about which no App may ask for a day has failed, once GitHub itself must have ended it or its worker has ended (E3, P6)', async () => {
  const { organization } = scene.world;
  await putInstallation(scene.db, { ...installationOf(organization), deleted_at: new Date() });
  const running = { status: 'running', wants_worker: false } as const;
  const { pod_name: live } = await putWorker(scene.db, { status: 'running' });
  const { pod_name: ended } = await putWorker(scene.db, {
    status: 'failed',
    completed_at: hoursAgo(26),
  });
  const put = (row: object, queuedHours: number, dueHours: number, repo = 'acme/api') =>
    scene.addJob({
      job: { repo },
      row: { queued_at: hoursAgo(queuedHours), lookup_due_at: hoursAgo(dueHours), ...row },
    });
  const jobs = {
    waiting: await put({}, 49, 25),
    held: await put({ wants_worker: false }, 49, 25),
    young: await put({}, 47, 25),
    justRemoved: await put({}, 49, 23),
    withApp: await put({}, 49, 25, 'mona/tool'),
    ended: await put({ ...running, k8s_pod: ended }, 30, 25),
    live: await put({ ...running, k8s_pod: live }, 49, 25),
    elsewhere: await put({ ...running, started_at: hoursAgo(119) }, 121, 25),
    tooLong: await put({ ...running, started_at: hoursAgo(121) }, 122, 25),
  };
  expect(await scene.lookUp()).toMatchObject({ lost: 4, jobs: 1 });
  const rows = await Promise.all(Object.values(jobs).map((job) => scene.row(job)));
  const failed = Object.keys(jobs).filter((_name, nth) => rows[nth]?.status === 'failed');
  expect(failed).toEqual(['waiting', 'held', 'ended', 'tooLong']);
  const message = expect.stringContaining('for 1440 minutes no App');
  const over = { wants_worker: false, lookup_due_at: null, failure_info: { version: 1, message } };
  expect(await scene.row(jobs.waiting)).toMatchObject(over);
  const lost = [jobs.waiting, jobs.held, jobs.ended, jobs.tooLong];
  expect(scene.told('jobsFailedUnasked')).toEqual([[lost]]);
});

/** A job at GitHub, and the `queued` delivery of it, which is so old. */
async function deliverQueued(hours: number, waiting = false): Promise<number> {
  const job = await scene.world.github.queueJob({ repo: 'acme/api', labels: ['linux'], waiting });
  const { organization, appId } = scene.world;
  const pools = await currentPoolsDocument(database.db);
  if (pools === undefined) throw new Error('There has to be a pools document.');
  const { id, login, installationId } = organization;
  const queued = queuedJob({
    jobId: job.id,
    runId: job.runId,
    queuedAt: hoursAgo(hours).toISOString(),
    entity: { id, login, type: 'Organization' },
    repoId: job.repositoryId,
    repoFullName: job.repo,
    installationId,
  });
  const statement = { ...queued, appId, deliveryGuid: crypto.randomUUID() };
  const finding = { event: 'discovered.queued', statement, payload: '{}', payloadRepaired: false };
  await database.db.transaction().execute((trx) => recordFindings(trx, [finding], pools));
  return job.id;
}
const demand = { status: 'pending', wants_worker: true, lookup_due_at: null };

describe('an older delivery of a queued job', () => {
  test('is no demand before GitHub was asked, and is after its first answer: it may have waited for an approval', async () => {
    const job = await deliverQueued(25);
    expect(await scene.row(job)).toMatchObject({ status: 'pending', wants_worker: false });
    expect(await scene.lookUp()).toMatchObject({ runs: 1, requeued: 1 });
    expect(await scene.row(job)).toMatchObject(demand);
  });

  test('that GitHub still calls waiting is looked up until it is queued, ever more rarely: one stale answer does not forget it', async () => {
    const job = await deliverQueued(30, true);
    for (let look = 0; look < 2; look++) {
      expect(await scene.lookUp()).toMatchObject({ answered: 1 });
      expect(await scene.lookUp()).toMatchObject({ jobs: 0 });
      await scene.passTime();
    }
    for (const [age, wait] of [
      [3, 3],
      [100, 6],
    ] as const) {
      await scene.setJobs({ created_at: hoursAgo(age), lookup_due_at: new Date(0) });
      await scene.lookUp();
      const { lookup_due_at: dueAt } = await scene.row(job);
      expect(Math.round(((dueAt?.getTime() ?? 0) - Date.now()) / 3_600_000)).toBe(wait);
    }
    await scene.world.github.approveJob(job);
    await scene.makeDue();
    expect(await scene.lookUp()).toMatchObject({ requeued: 1 });
    expect(await scene.row(job)).toMatchObject(demand);
  });
});

/** A worker that ended well just now, without a known job. */
const endUnexplained = async () => {
  const times = { running_at: minutesAgo(5), completed_at: minutesAgo(0) };
  const ended = { ...times, status: 'completed', unexplained_until: minutesAgo(-10) } as const;
  const { id: entity_id } = scene.world.organization;
  return (await putWorker(scene.db, { entity_id, ...ended })).pod_name;
};
const graces = async () => {
  const rows = scene.db.selectFrom('workers').where('unexplained_until', 'is not', null);
  return (await rows.select('pod_name').execute()).map(({ pod_name: name }) => name);
};
const failing = () =>
  scene.db
    .selectFrom('demand_keys')
    .select(['k8s_pool as pool', 'failure_class as failureClass', 'failures', 'pauses'])
    .where('failures', '>', 0)
    .execute();
const waiting = { row: { lookup_due_at: null } };

describe('after an unexplained end (C3, E4)', () => {
  test('the key’s oldest waiting jobs are looked up, also after an earlier answer; all of them queued ends the grace', async () => {
    const looked_up_at = new Date(Date.now() - 60_000);
    const job = await scene.addJob({ row: { ...waiting.row, looked_up_at } });
    await endUnexplained();
    expect(await scene.lookUp()).toMatchObject({ jobs: 1, queued: 1, graces: 1 });
    expect(await graces()).toEqual([]);
    expect(await scene.row(job)).toMatchObject({ status: 'pending', wants_worker: true });
    expect(await scene.lookUp()).toMatchObject({ jobs: 0, graces: 0 });
  });

  test('a job that GitHub gave to the worker explains it', async () => {
    const name = await scene.startRunner();
    const ran = await scene.addJob({ ...waiting, job: { durationMs: 3_600_000 } });
    const left = await scene.addJob(waiting);
    const ended = { status: 'completed', completed_at: new Date() } as const;
    const unexplained = { ...ended, unexplained_until: new Date(4e12) };
    await scene.db.updateTable('workers').set(unexplained).execute();
    expect(await scene.lookUp()).toMatchObject({ jobs: 2, stated: 1, queued: 1, graces: 0 });
    expect(await graces()).toEqual([]);
    expect(await scene.row(ran)).toMatchObject({ status: 'running', k8s_pod: name });
    expect(await scene.row(left)).toMatchObject({ wants_worker: true });
  });

  test('the grace stays while GitHub does not answer, and a minute later it is asked again', async () => {
    await scene.addJob(waiting);
    const name = await endUnexplained();
    await scene.world.github.failNext({ path: '/jobs$', status: 502 });
    expect(await scene.lookUp()).toMatchObject({ unanswered: 1, graces: 0 });
    expect(await graces()).toEqual([name]);
    expect(await scene.lookUp()).toMatchObject({ jobs: 0, graces: 0 });
    await scene.passTime();
    expect(await scene.lookUp()).toMatchObject({ queued: 1, graces: 1 });
  });

  test('a first answer that GitHub does not know the job does not end it; the second ends the job (C11, P4)', async () => {
    const name = await endUnexplained();
    const job = await scene.addJob({ row: { lookup_due_at: null, run_id: 404_404 } });
    expect(await scene.lookUp()).toMatchObject({ jobs: 1, gone: 1, graces: 0 });
    expect(await scene.lookUp()).toMatchObject({ jobs: 0, graces: 0 });
    await scene.setJobs({ lookup_due_at: new Date(0), seen_gone_at: new Date(0) });
    await scene.world.github.failNext({ method: 'GET', path: '/actions/jobs/', status: 404 });
    expect(await scene.lookUp()).toMatchObject({ jobs: 1, failed: 1, graces: 0 });
    expect(await scene.row(job)).toMatchObject({ status: 'failed', wants_worker: false });
    expect(await graces()).toEqual([name]);
  });
});

test('runners that end well without a job speak against their key: the third pauses it (C11, P4)', async () => {
  const ofKey = { pool: 'linux', failureClass: 'no_job' };
  await scene.addJob(waiting);
  await endUnexplained();
  await endUnexplained();
  expect(await scene.lookUp()).toMatchObject({ graces: 2 });
  expect(await failing()).toEqual([{ ...ofKey, failures: 2, pauses: 0 }]);
  await endUnexplained();
  expect(await scene.lookUp()).toMatchObject({ graces: 1 });
  expect(await failing()).toEqual([{ ...ofKey, failures: 3, pauses: 1 }]);
});
