import { beforeEach, describe, expect, test } from '@jest/globals';
import { markJobsInDoubt } from '@paddock/db/jobs/jobs-in-doubt';
import { findJobsToLookUp } from '@paddock/db/jobs/look-ups';
import { enqueueAlone } from '@paddock/queue/enqueue';
import { runDueTasks } from '@paddock/queue/scenes/run-due-tasks.scene';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { minutesAgo, putWorker } from '@paddock/testing/demand-rows';
import { sql } from 'kysely';
import { putReason, useDiscoveryScene } from '../scenes/jobs.scene.ts';
import { CONFIG } from '../scenes/sweep.scene.ts';
import { kindsOf } from '../sweep.ts';
import { discoverJobs } from './discover-jobs.ts';
import { lookUpJobs } from './look-up-jobs.ts';

const database = useTestDatabase();
const scene = useDiscoveryScene(database);

const JOBS_OF_RUN = 'actions/list-jobs-for-workflow-run';
const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);
const running = { status: 'running', wants_worker: false } as const;

describe('when GitHub fails', () => {
  test('for one run: the others are looked up, and it has its turn later', async () => {
    const jobs: number[] = [];
    for (const repo of ['acme/api', 'acme/api', 'mona/tool'])
      jobs.push(await scene.addJob({ job: { repo } }));
    for (const job of jobs) await scene.world.github.cancelJob(job);
    await scene.world.github.failNext({ afterCommit: true, path: '/jobs$', after: 1 });
    expect(await scene.lookUp()).toMatchObject({ runs: 2, stated: 2, unanswered: 1 });
    expect(await scene.lookUp()).toMatchObject({ jobs: 0 });
    await sql`update jobs set lookup_due_at = now() where status = 'pending'`.execute(scene.db);
    expect(await scene.lookUp()).toMatchObject({ runs: 1, stated: 1 });
    for (const job of jobs) expect(await scene.row(job)).toMatchObject({ status: 'completed' });
  });

  test.each([0, 1, 2, 3])('on call %d, the next passes finish the look-ups', async (after) => {
    const jobs = [await scene.addJob({ row: running })];
    jobs.push(await scene.addJob({ row: running, job: { repo: 'mona/tool' } }));
    await scene.world.github.failNext({ path: '/', status: 502, after });
    for (let time = 0; time < 4; time++) {
      await scene.lookUp();
      await scene.world.github.clearFaults();
      await scene.makeDue();
      await scene.passTime();
    }
    for (const job of jobs)
      expect(await scene.row(job)).toMatchObject({ wants_worker: true, requeues: 1 });
  });

  test('refuses a repository: no other call about it is made, and the entity’s others are asked about (P6)', async () => {
    for (let index = 0; index < 3; index++) await scene.addJob();
    const ofSite = await scene.addJob({ job: { repo: 'acme/site' } });
    await scene.world.github.failNext({ path: '/repos/acme/api/', status: 403, times: 9 });
    expect(await scene.lookUp()).toMatchObject({ runs: 1, unanswered: 3 });
    expect(scene.unanswered()).toEqual(['forbidden']);
    expect(await scene.row(ofSite)).toMatchObject({ looked_up_at: expect.any(Date) });
  });

  test('leaves little of the budget, a pass takes its share of it, and the rest has its turn later (P4)', async () => {
    for (let index = 0; index < 8; index++) await scene.addJob();
    const monas = await scene.addJob({ job: { repo: 'mona/tool' } });
    await scene.allowCalls(20);
    expect(await scene.lookUp()).toMatchObject({ runs: 6, unanswered: 3 });
    expect(await scene.row(monas)).toMatchObject({ looked_up_at: expect.any(Date) });
    expect(await scene.lookUp()).toMatchObject({ jobs: 3, unanswered: 0 });
  });

  test('at no call, and more look-ups are due than a pass takes: it says so, and the rest has its turn', async () => {
    for (let index = 0; index < 3; index++) await scene.addJob();
    for (const jobs of [2, 1]) {
      const outcome = await scene.run(lookUpJobs, { config: { lookUpsOfPass: 2 } });
      const followOn = jobs === 2 ? [{ kind: 'look-up-jobs' }] : [];
      expect(outcome).toMatchObject({ output: { jobs }, followOn });
    }
  });

  test('at every call, and more look-ups are due than a pass takes: the rest waits for the next tick', async () => {
    for (let index = 0; index < 3; index++) await scene.addJob();
    await scene.world.github.failNext({ path: '/actions/runs/', status: 502, times: 9 });
    const outcome = await scene.run(lookUpJobs, { config: { lookUpsOfPass: 2 } });
    expect(outcome).toMatchObject({ output: { jobs: 2, unanswered: 2 }, followOn: [] });
  });

  test('for many runs in a row, the pass goes on; if our own probe has no answer, it ends, and all stay due', async () => {
    for (let index = 0; index < 5; index++) await scene.addJob();
    await scene.world.github.failNext({ path: '', status: 503, times: 9 });
    expect(await scene.lookUp()).toMatchObject({ runs: 0, unanswered: 1 });
    await scene.world.github.clearFaults();
    await scene.world.github.failNext({ path: '/jobs$', status: 503, times: 4 });
    expect(await scene.lookUp()).toMatchObject({ jobs: 5, runs: 1, unanswered: 4 });
    expect(await scene.calls(JOBS_OF_RUN)).toBe(5);
  });
});

const LIMIT = { status: 429, headers: { 'retry-after': '600' } };
const endWaits = () =>
  sql`update installations set wait_until = null, core_wait_until = null`.execute(database.db);
const makeTasksDue = () => sql`update tasks set due_at = now()`.execute(database.db);
const against = async () => (await scene.world.github.report()).callsAgainstWait;
const calls = async () =>
  Object.values((await scene.world.github.report()).calls).reduce((sum, count) => sum + count, 0);

describe('an entity that GitHub asks to leave alone', () => {
  beforeEach(async () => {
    for (const repo of ['acme/api', 'acme/api', 'mona/tool']) await scene.queue(repo);
  });

  test('is passed over by discovery, others are not, and it has its turn at once when that is over (E2)', async () => {
    await scene.world.github.failNext({ path: '/acme/', ...LIMIT });
    expect(await scene.discover()).toMatchObject({ listed: 2, found: 1 });
    const before = await scene.calls('actions/list-workflow-runs-for-repo');
    await scene.passMinutes(10);
    expect(await scene.discover()).toMatchObject({ repositories: 1, unanswered: 0 });
    expect(await scene.calls('actions/list-workflow-runs-for-repo')).toBe(before + 5);
    expect([scene.unanswered(), await against()]).toEqual([[], 0]);
    await endWaits();
    expect(await scene.discover()).toMatchObject({ found: 2, unanswered: 0 });
  });

  test('is resynced when GitHub names, without a failed attempt (F5)', async () => {
    const sweeps = { 'discover-jobs': { slots: 1, pass: discoverJobs } };
    const kinds = kindsOf(scene.contextOf(), sweeps);
    const subject = { type: 'repository', id: 'acme/api' };
    await enqueueAlone(database.db, [{ kind: 'discover-jobs', subject }]);
    const run = () => runDueTasks({ db: scene.own, kinds, random: () => 0.5 });
    const tasks = () => database.db.selectFrom('tasks').select(['attempt', 'due_at']).execute();
    await scene.world.github.failNext({ path: '/acme/', ...LIMIT });
    for (let turn = 0; turn < 7; turn += 1) {
      await run();
      await makeTasksDue();
    }
    expect([await tasks(), await against()]).toMatchObject([[{ attempt: 0 }], 0]);
    await run();
    const [task] = await tasks();
    expect((task?.due_at.getTime() ?? 0) - Date.now()).toBeGreaterThan(500_000);
    await endWaits();
    await makeTasksDue();
    await run();
    expect(await tasks()).toEqual([]);
    expect(await scene.jobIds()).toHaveLength(2);
  });
});

test('a look whose budget is used up makes no call of GitHub, and ends no refusal (C9)', async () => {
  await scene.queue('acme/api');
  await scene.discover();
  await scene.passMinutes(10);
  await sql`update repositories set refused_since = now(), refused_until = now()`.execute(scene.db);
  const before = await calls();
  await scene.discover({ config: { discoverBudgetPercent: 0 } });
  expect(await calls()).toBe(before);
  const answered = scene.db.selectFrom('repositories').where('refused_since', 'is', null);
  expect(await answered.select('repo_id').execute()).toEqual([]);
});

test('a statement that fails is no silence of GitHub’s: the look-up ends with it', async () => {
  const job = await scene.addJob();
  await scene.world.github.selectRepositories(scene.world.organization.installationId, []);
  await sql`create function no_space() returns trigger language plpgsql
    as $$ begin raise 'No space left on device' using errcode = '53100'; end $$`.execute(
    database.db,
  );
  await sql`create trigger full_disk before insert on installation_events for each row
    when (new.job_id = ${sql.lit(job)}) execute function no_space()`.execute(database.db);
  try {
    await expect(scene.lookUp()).rejects.toThrow('No space left on device');
    expect(scene.unanswered()).toEqual(['invisible']);
  } finally {
    await sql`drop function no_space cascade`.execute(database.db);
  }
});

test('a backlog of one entity takes turns with the one job of another, when doubts are looked for and when GitHub is asked (E2, P6)', async () => {
  const old = { lookup_due_at: null, created_at: ago(180) };
  const row = { ...old, created_at: ago(40) };
  const monas = await scene.addJob({ job: { repo: 'mona/tool' }, row });
  const first = await scene.addJob({ row: old });
  await sql`insert into jobs (job_id, wants_worker, entity_id, entity_name, entity_type, repo_id, repo_full_name, app_id, installation_id,
      job_labels, k8s_pool, k8s_image, scope_repo_id, pools_version, run_id, run_attempt, job_name, created_at)
    select 70000000000 + n, true, entity_id, entity_name, entity_type, repo_id, repo_full_name, app_id, installation_id,
      job_labels, k8s_pool, k8s_image, scope_repo_id, pools_version, 80000000000 + n, 1, job_name, created_at
    from jobs, generate_series(2, 2000) n where job_id = ${first}`.execute(scene.db);
  await putReason(scene.db, first, 'at_entity_cap');
  const found = await markJobsInDoubt(scene.own, CONFIG);
  expect(found).toHaveLength(CONFIG.lookUpsOfPass);
  expect(found.map(({ jobId }) => jobId)).toContain(monas);
  await markJobsInDoubt(scene.own, { ...CONFIG, lookUpsOfPass: 3_000 });
  const query = { batch: 250, secondLookMs: 60_000, appIds: [scene.world.appId] };
  const next = await findJobsToLookUp(scene.own, query);
  expect(next).toHaveLength(250);
  expect(next.map(({ jobId }) => jobId)).toContain(monas);
});

test('GitHub’s silence about a job begins with the first question that it does not answer, and an answer ends it (E3)', async () => {
  const job = await scene.addJob({ row: { created_at: new Date(0) } });
  const since: number[] = [];
  for (const isSilent of [true, true, false, true]) {
    if (isSilent) await scene.world.github.failNext({ path: '/jobs$', status: 502 });
    await scene.lookUp();
    since.push(Number((await scene.row(job)).unanswered_since));
    await scene.makeDue();
  }
  const [first = 0, second, , last] = since;
  expect(first).toBeGreaterThan(Date.now() - 60_000);
  expect(second).toBe(first);
  expect(last).toBeGreaterThan(first);
});

test('a job about which GitHub does not answer is asked about ever more rarely, at least once an hour (P6)', async () => {
  const job = await scene.addJob();
  await scene.world.github.failNext({ path: '/jobs$', status: 502, times: 9 });
  const waits: number[] = [];
  for (const minutes of [0, 4, 30, 600]) {
    await scene.setJobs({ unanswered_since: ago(minutes), lookup_due_at: new Date(0) });
    await scene.lookUp();
    const { lookup_due_at: dueAt } = await scene.row(job);
    waits.push(Math.round(((dueAt?.getTime() ?? 0) - Date.now()) / 60_000));
  }
  expect(waits).toEqual([1, 4, 30, 60]);
});

test('a job that GitHub calls queued is demand again once its runner has ended, although its pod lives on (A6, E3)', async () => {
  const ended = { running_at: minutesAgo(30), runner_ended_at: minutesAgo(11) };
  const { pod_name: k8s_pod } = await putWorker(scene.db, { status: 'running', ...ended });
  const job = await scene.addJob({ row: { ...running, k8s_pod } });
  await scene.lookUp();
  await scene.passTime();
  expect(await scene.lookUp()).toMatchObject({ requeued: 1 });
  expect(await scene.row(job)).toMatchObject({ wants_worker: true, lookup_due_at: null });
});

test('GitHub’s silence for a day fails a stuck job, and its answer corrects that (E3, A6)', async () => {
  const long = ago(49 * 60);
  const silent = { recovery_attempts: 3, unanswered_since: ago(24 * 60 + 1) };
  const row = { lookup_due_at: null, created_at: long, queued_at: long, ...silent };
  const job = await scene.addJob({ row });
  await scene.world.github.failNext({ path: '/jobs$', status: 502 });
  expect(await scene.lookUp()).toMatchObject({ lost: 1, recovered: 0, unanswered: 1 });
  expect(scene.told('jobsFailedUnasked')).toEqual([[[job]]]);
  expect(await scene.row(job)).toMatchObject({ status: 'failed' });
  await scene.world.github.cancelJob(job);
  await scene.makeDue();
  expect(await scene.lookUp()).toMatchObject({ lost: 0, stated: 1 });
  expect(await scene.row(job)).toMatchObject({ status: 'failed', misjudged: true });
});
