import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { noteAway } from '@paddock/db/outages';
import { saveRunnerGroup } from '@paddock/db/matching/stored-rules';
import { saveAppIds } from '@paddock/db/instance';
import {
  minutesAgo,
  putInstallation,
  putJob,
  putPools,
  putWorker,
} from '@paddock/testing/demand-rows';
import { emptyAll, useTestDatabase } from '@paddock/testing/use-test-database';
import { examplePayload } from '@paddock/testing/signed-delivery';
import { ask, askAll, putKey } from '../scenes/ask.scene.ts';
import { whyJobEndpoint, whyRunEndpoint } from './explain-job.ts';

const database = useTestDatabase();
/** Asks with the console's rights. */
const why = (job: number) => ask(whyJobEndpoint, database.dbOf('console'), { job: String(job) });

beforeAll(() => saveAppIds(database.db, [1001]));
beforeEach(async () => {
  await emptyAll(database.db);
  await putPools(database.db, {
    pools: [{ maxWorkers: 1 }],
    entities: { '*': { maxWorkers: 20 } },
  });
});

describe('why a job waits (P5)', () => {
  test('is told by its place, the workers on their way and the caps', async () => {
    const first = await putJob(database.db, { created_at: new Date('2026-01-31T08:59:00Z') });
    const created_at = new Date('2026-01-31T08:59:30Z');
    const second = await putJob(database.db, { created_at });
    const { pod_name: worker } = await putWorker(database.db, { created_at: minutesAgo(1) });
    await putKey(database.db, first, 'at_pool_cap');

    const its = await why(first.job_id);
    expect(its).toMatchObject({
      job: { id: first.job_id, name: 'build', repository: 'acme/api', pool: 'linux' },
      state: 'waiting',
      reason: null,
      sentence: `Its worker ${worker} is on its way: its registration has not begun.`,
      workers: [{ name: worker, state: 'reserved' }],
      workersInAll: 1,
      workersStopping: 0,
    });
    expect(its.place).toEqual({ position: 1, of: 2, olderOfEntity: 0, olderOfPool: 0 });
    expect(its.workers[0]?.ageMs).toBeGreaterThanOrEqual(60_000);

    expect(await why(second.job_id)).toMatchObject({
      reason: 'at_pool_cap',
      actor: 'wait',
      since: '2026-01-31T09:00:00.000Z',
      sentence: 'maxWorkers of the pool linux is 1, and 1 worker is there.',
      place: { position: 2, of: 2 },
      caps: [
        { name: 'maxWorkers of acme', used: 1, limit: 20 },
        { name: 'maxWorkers of the pool linux', used: 1, limit: 1 },
      ],
      evidence: { key: { waiting: 2, unassigned: 1, waitReason: 'at_pool_cap' } },
    });
  });

  test('names a runner group where it lacks the repository', async () => {
    const { job_id: id, entity_id: entityId } = await putJob(database.db);
    await saveRunnerGroup(database.db, {
      entityId,
      pool: 'linux',
      name: 'review',
      access: {
        visibility: 'selected',
        allowsPublicRepositories: false,
        workflows: null,
        repositories: ['acme/web'],
      },
      excess: undefined,
      pauseMs: undefined,
    });
    expect(await why(id)).toMatchObject({ state: 'waiting', actor: 'platform' });
  });

  test('tells why the pod of its worker could not be made at the last try, in no more words than others', async () => {
    const { job_id: job } = await putJob(database.db);
    const { pod_name: name } = await putWorker(database.db, { registered_at: minutesAgo(1) });
    const refused = 'POST /api/v1/namespaces/runners/pods: 403 '.padEnd(300, 'No. ');
    const failures = [
      { attempt: 1, reason: 'error', message: 'another' },
      { attempt: 2, reason: 'snooze', message: `${refused} No.` },
    ];
    const task = { kind: 'provision-worker', subject_type: 'worker', subject_id: name };
    await database.db
      .insertInto('tasks')
      .values({ ...task, max_attempts: 5, failures: JSON.stringify(failures) })
      .execute();
    const tried = `it is registered, and its pod is being made (${refused})`;
    expect((await why(job)).sentence).toBe(`Its worker ${name} is on its way: ${tried}.`);
  });

  test('tells of its worker if that failed (G4)', async () => {
    const { pod_name: name } = await putWorker(database.db, {
      status: 'failed',
      completed_at: minutesAgo(1),
      failure_info: JSON.stringify({ message: 'the pod was evicted' }),
    });
    const { job_id: job } = await putJob(database.db, {
      status: 'completed',
      wants_worker: false,
      conclusion: 'failure',
      k8s_pod: name,
    });
    const { sentence } = await why(job);
    expect(sentence).toContain(`Its worker ${name} failed: the pod was evicted.`);
  });

  test('begins with a person’s stop of what the job needs, and no other', async () => {
    const job = await putJob(database.db, { created_at: new Date('2026-01-31T09:00:00Z') });
    await putKey(database.db, job, 'at_pool_cap');
    const switches = database.db.insertInto('switches');
    const by = { switched_by: 'ada', since: new Date('2026-01-31T09:30:00Z') };
    await switches.values({ subject_type: 'pool', subject_id: 'big', ...by }).execute();
    await switches.values({ subject_type: 'entity', subject_id: '7', ...by }).execute();
    expect((await why(job.job_id)).reason).toBe('at_pool_cap');

    const note = 'new image';
    await switches.values({ subject_type: 'pool', subject_id: 'linux', ...by, note }).execute();
    await switches.values({ subject_type: 'entity', subject_id: '90000001', ...by }).execute();
    expect(await why(job.job_id)).toMatchObject({
      reason: 'making_stopped',
      since: '2026-01-31T09:30:00.000Z',
      sentence:
        'ada stopped the making of workers for acme at 2026-01-31T09:30:00Z; ada stopped the making of workers for the pool linux at 2026-01-31T09:30:00Z (“new image”).',
    });
  });

  test('has the words of the failures of its own key, and of what is away (P6)', async () => {
    const job = await putJob(database.db);
    const other = await putJob(database.db, { entity_id: 7 });
    await putKey(database.db, job, 'workers_failing');
    await putKey(database.db, other, 'workers_failing');
    const since = new Date('2026-01-31T09:00:00Z');
    const failed = { failures: 3, pauses: 1, failure_class: 'x', failing_since: since };
    for (const [key, message] of [
      [job.demand_key, 'acme'],
      [other.demand_key, 'lab'],
    ] as const)
      await database.db
        .updateTable('demand_keys')
        .set({ ...failed, failure_message: message, paused_until: since })
        .where('demand_key', '=', key)
        .execute();
    expect((await why(job.job_id)).sentence).toBe(
      'Workers for acme in the pool linux fail before they have a job (3 failures since 2026-01-31T09:00:00Z, one worker may try since 2026-01-31T09:00:00Z): acme.',
    );
    await database.db
      .updateTable('demand_keys')
      .set({ wait_reason: 'github_unavailable' })
      .execute();
    await noteAway(database.db, 'github', 'no answer');
    expect((await why(job.job_id)).sentence).toMatch(
      /^GitHub has not answered since .*: no answer\.$/,
    );
  });

  test('uses the login of today and the nearest pool of today', async () => {
    await putInstallation(database.db, { login: 'acme-inc' });
    const job = await putJob(database.db, { k8s_pool: '(none)', job_labels: '["linux", "gpu"]' });
    await putKey(database.db, job, 'no_pool_fits');
    const { sentence, caps } = await why(job.job_id);
    expect(sentence).toBe('No pool serves the job now: the nearest, linux, lacks the label gpu.');
    expect(caps).toEqual([{ name: 'maxWorkers of acme-inc', used: 0, limit: 20 }]);
  });
});

test('the jobs of a run that wait or run are explained in pages (P5)', async () => {
  await putInstallation(database.db, { login: 'Acme' });
  const run = { run_id: 77 };
  const jobs = [
    await putJob(database.db, run),
    await putJob(database.db, { ...run, status: 'running', wants_worker: false }),
    await putJob(database.db, run),
  ];
  await putJob(database.db, { ...run, status: 'completed', wants_worker: false });
  await putJob(database.db);

  const asked = { run: '77', owner: 'acme', limit: '2' };
  const found = await askAll(whyRunEndpoint, database.dbOf('console'), asked);
  expect(found.map(({ job }) => job.id)).toEqual(jobs.map(({ job_id: id }) => id));
  const others = await ask(whyRunEndpoint, database.db, { run: '77', owner: 'lab' });
  expect(others).toEqual({ items: [], next: null });
});

test.each([
  [
    'cannot be stopped',
    {
      stopping_at: minutesAgo(9),
      stop_held_by: 'its log cannot be read',
      stop_held_since: minutesAgo(5),
    },
    'its log cannot be read',
  ],
  [
    'is being deleted and does not go',
    { terminating_at: minutesAgo(5) },
    'its pod is being deleted, and is still there',
  ],
] as const)('names a worker that keeps its place and %s (P5)', async (_how, held, because) => {
  const job = await putJob(database.db);
  const { pod_name: worker } = await putWorker(database.db, {
    ...held,
    running_at: minutesAgo(20),
    status: 'running',
    assigned_at: minutesAgo(20),
  });
  await putWorker(database.db, {
    assigned_at: new Date(),
    stop_held_by: 'a moment',
    stop_held_since: new Date(),
  });
  await putKey(database.db, job, 'at_pool_cap');
  expect(await why(job.job_id)).toMatchObject({
    reason: 'at_pool_cap',
    actor: 'platform',
    sentence: expect.stringMatching(
      new RegExp(`1 of them does not go: ${worker} since .*, because ${because}\\.$`),
    ),
  });
});

test('the median rests on the last jobs of the queue that our workers ran, and no others (P5)', async () => {
  const job = await putJob(database.db);
  expect((await why(job.job_id)).lastStarts).toBeNull();

  /** A job that waited for so many minutes, and the worker that ran it. */
  const started = async (
    waited: number,
    given: Parameters<typeof putWorker>[1] & { from?: number } = {},
  ) => {
    const { from = 30, ...columns } = given;
    const { job_id } = await putJob(database.db, {
      status: 'completed',
      wants_worker: false,
      queued_at: new Date(Date.UTC(2026, 0, 31, 9)),
      started_at: new Date(Date.UTC(2026, 0, 31, 9, waited)),
    });
    await putWorker(database.db, {
      status: 'completed',
      created_at: minutesAgo(from + 1),
      assigned_at: minutesAgo(from),
      completed_at: minutesAgo(from - 4),
      assigned_job_id: job_id,
      ...columns,
    });
  };
  await started(2);
  await started(9);
  await started(4, { status: 'running', completed_at: null });
  await started(50, { entity_id: 7 });
  await started(50, { scope_repo_id: 7 });
  await started(50, { k8s_pool: 'big' });
  await started(50, { assigned_at: null, assigned_job_id: null });
  await started(50, { from: 60 * 24 * 31 });
  expect((await why(job.job_id)).lastStarts).toEqual({ jobs: 3, medianMs: 4 * 60_000 });

  for (let n = 0; n < 50; n += 1) await started(1, { from: 20 });
  expect((await why(job.job_id)).lastStarts).toEqual({ jobs: 50, medianMs: 60_000 });
});

describe('a job that no pool serves (P5)', () => {
  const LABELS = ['linux', 'gpu'];
  const deliver = (action: string, outcome: string, receivedAt: Date) => {
    const payload = examplePayload('workflow_job', action, {
      workflow_job: { id: 900, labels: LABELS },
      repository: { private: true },
    });
    return database.db
      .insertInto('installation_events')
      .values({
        source: 'webhook',
        event: `workflow_job.${action}`,
        outcome,
        job_id: 900,
        payload: JSON.stringify(outcome === 'repeated_body' ? {} : payload),
        received_at: receivedAt,
      })
      .execute();
  };

  test('is explained by its delivery and the pools in force', async () => {
    await deliver('queued', 'ignored_no_label', new Date());
    await deliver('queued', 'repeated_body', new Date());
    expect(await why(900)).toMatchObject({
      job: { id: 900, pool: null },
      state: 'not_served',
      reason: 'ignored_no_label',
      actor: 'author',
      sentence: 'No pool has all of its labels: the nearest, linux, lacks the label gpu.',
      place: null,
      evidence: { job: { labels: ['gpu', 'linux'] } },
    });
  });
});
