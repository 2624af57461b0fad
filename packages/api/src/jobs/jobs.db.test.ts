import { beforeAll, describe, expect, test } from '@jest/globals';
import { putInstallation, putJob, putWorker } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { ask, askAll, putKey } from '../scenes/ask.scene.ts';
import { countActiveEndpoint } from '../usage/active.ts';
import { listJobsEndpoint as endpoint } from './list-jobs.ts';
import { findJobEndpoint } from './job.ts';

const database = useTestDatabase();
const list = (input: Readonly<Record<string, unknown>> = {}) => ask(endpoint, database.db, input);

const listAll = (input: Readonly<Record<string, unknown>>) =>
  askAll(endpoint, database.db, { ...input, limit: '10' });

const active = async (input: Readonly<Record<string, unknown>>) =>
  (await ask(countActiveEndpoint, database.db, input)).items;

const ids = async (input: object) => (await listAll({ ...input })).map(({ id }) => id);

const START = Date.parse('2026-01-31T00:00:00Z');
const WORDS = [null, null, 'success', 'failure', null] as const;
const STATUSES = ['pending', 'running', 'completed', 'completed', 'failed'] as const;

beforeAll(async () => {
  for (let n = 0; n < 60; n += 1) {
    const entity = n % 2;
    const repository = 10 * (entity + 1) + (n % 3);
    await putJob(database.db, {
      job_id: n + 1,
      status: STATUSES[n % 5],
      wants_worker: n % 5 === 0,
      conclusion: WORDS[n % 5] ?? null,
      entity_id: entity + 1,
      entity_name: `Org-${entity + 1}`,
      repo_id: repository,
      repo_full_name: `Org-${entity + 1}/app-${repository}`,
      k8s_pool: n % 7 < 4 ? 'linux' : 'gpu',
      workflow_name: n % 11 === 0 ? null : n % 4 === 0 ? 'Nightly' : 'CI',
      created_at: new Date(START + Math.floor(n / 3) * 3_600_000),
    });
  }
  // Of three jobs two have one instant, and the other one is older by less than a millisecond.
  await sql`update jobs set created_at = created_at + interval '1 microsecond'
    where job_id % 3 <> 1`.execute(database.db);
  for (const id of [1, 2])
    await putInstallation(database.db, { entity_id: id, installation_id: id, login: `Org-${id}` });
});

describe('the list of jobs', () => {
  let all: Awaited<ReturnType<typeof listAll>>;
  beforeAll(async () => {
    all = await listAll({});
  });

  test('has all of them, newest first, each once, also those of one instant and of one millisecond', () => {
    expect(all.map(({ id }) => id)).toEqual(Array.from({ length: 60 }, (_, n) => 60 - n));
  });

  // Each filter with the jobs that it means; the offered combinations of them are tried below.
  type Item = Awaited<ReturnType<typeof list>>['items'][number];
  const FILTERS: Readonly<Record<string, readonly [string, (job: Item) => boolean]>> = {
    entity: ['org-2', ({ entity }) => entity.id === 2],
    repository: ['ORG-2/app-21', ({ repository }) => repository.id === 21],
    pool: ['gpu', ({ pool }) => pool === 'gpu'],
    workflow: ['Nightly', ({ workflow }) => workflow === 'Nightly'],
    conclusion: ['failure', ({ conclusion }) => conclusion === 'failure'],
    from: ['2026-01-31T05:00:00Z', ({ createdAt }) => createdAt >= '2026-01-31T05'],
    to: ['2026-01-31T15:00:00Z', ({ createdAt }) => createdAt < '2026-01-31T15'],
  };
  const ENDED = ['', 'from to', 'entity', 'entity from to', 'entity pool', 'entity conclusion']
    .concat('entity pool conclusion', 'pool', 'conclusion', 'pool conclusion from to', 'repository')
    .concat('repository workflow from to', 'repository conclusion')
    .concat('repository workflow conclusion');
  const ACTIVE = ['', 'entity', 'workflow from to', 'entity repository pool workflow'];
  const OFFERED = [
    ...['', 'ended'].flatMap((state) => ENDED.map((filters) => [state, filters])),
    ...['waiting', 'running'].flatMap((state) => ACTIVE.map((filters) => [state, filters])),
  ];

  test.each(OFFERED)('of state %j filters by %j', async (state = '', filters = '') => {
    const chosen = filters
      .split(' ')
      .filter((name) => name !== '')
      .map((name) => [name, FILTERS[name] ?? ['', () => false]] as const);
    const input = Object.fromEntries(chosen.map(([name, [value]]) => [name, value]));
    const found = await listAll(state === '' ? input : { ...input, state });
    const meant = all.filter(
      (job) => (state === '' || job.state === state) && chosen.every(([, [, fits]]) => fits(job)),
    );
    expect(found).toEqual(meant);
  });

  test.each([
    { workflow: 'CI', pool: 'gpu', state: 'ended' },
    { repository: 'org-1/app-10', entity: 'org-1' },
    { state: 'waiting', conclusion: 'failure' },
    { state: 'running', reason: 'none' },
  ])('refuses %j, which no index answers, and says what to do', async (input) => {
    await expect(list(input)).rejects.toMatchObject({
      status: 400,
      detail: expect.stringMatching(/`/),
    });
  });

  test('knows entities and repositories by their ids, and says which it does not know', async () => {
    expect((await list({ entity: '2' })).items).toEqual((await list({ entity: 'ORG-2' })).items);
    expect((await list({ repository: '21' })).items.length).toBeGreaterThan(0);
    expect((await list({ entity: '999' })).items).toEqual([]);
    await expect(list({ entity: 'nobody' })).rejects.toMatchObject({ status: 400 });
    await expect(list({ repository: 'a/b' })).rejects.toMatchObject({ status: 400 });
  });
});

const find = (job: number | string) => ask(findJobEndpoint, database.db, { job });
const minute = (n: number) => new Date(START + n * 60_000);

test('one job has its timeline in order, its runner and its deliveries, the newest first (D12)', async () => {
  await putJob(database.db, {
    job_id: 200,
    status: 'completed',
    wants_worker: false,
    conclusion: 'success',
    k8s_pod: 'w-7',
    runner_name: 'w-7',
    runner_id: 7,
    requeues: 1,
    queued_at: minute(0),
    created_at: minute(1),
    looked_up_at: minute(2),
    started_at: minute(3),
    completed_at: minute(4),
  });
  await sql`insert into installation_events (source, event, outcome, job_id, delivery_guid, payload, received_at)
    values ('webhook', 'workflow_job.queued', 'job_stored', 200, 'guid-1', '{}', ${minute(1)}),
      ('reconciler', 'workflow_job.completed', 'job_marked_completed', 200, null, '{}', ${minute(4)})`.execute(
    database.db,
  );
  const job = await find('200');
  expect(job).toMatchObject({
    id: 200,
    state: 'ended',
    worker: 'w-7',
    runner: { id: 7, name: 'w-7' },
    requeues: 1,
    deliveries: [
      { id: expect.stringMatching(/^\d+$/), source: 'reconciler', guid: null },
      { id: expect.any(String), event: 'workflow_job.queued', guid: 'guid-1' },
    ],
  });
  expect(job.timeline).toEqual([
    { at: '2026-01-31T00:00:00.000Z', what: 'queued at GitHub' },
    { at: '2026-01-31T00:01:00.000Z', what: 'stored by Paddock' },
    { at: '2026-01-31T00:02:00.000Z', what: 'GitHub last answered a look-up' },
    { at: '2026-01-31T00:03:00.000Z', what: 'started' },
    { at: '2026-01-31T00:04:00.000Z', what: 'completed' },
  ]);
});

test('a job of the list that waits says why its key gets no worker, and since when; by reason it is found (D12)', async () => {
  const job = await putJob(database.db, { job_id: 101, queued_at: new Date(START) });
  // Its key has the reason for longer than the job is known.
  const knownSince = job.created_at.toISOString();
  await putKey(database.db, job, 'at_pool_cap');
  const [item] = (await list({ state: 'waiting' })).items;
  expect(item).toMatchObject({
    id: 101,
    state: 'waiting',
    wait: { reason: 'at_pool_cap', since: knownSince },
  });
  const oldestSince = new Date(START).toISOString();
  expect(await active({ by: 'reason' })).toMatchObject([
    { reason: 'none', waiting: 12, running: 0, pools: ['gpu', 'linux'], oldestSince },
    { reason: 'at_pool_cap', waiting: 1, pools: ['linux'], oldestSince: item?.createdAt },
  ]);
  const waiting = await ids({ state: 'waiting' });
  expect(await ids({ reason: 'at_pool_cap' })).toEqual([101]);
  expect(await ids({ reason: 'none' })).toEqual(waiting.filter((id) => id !== 101));
  expect(await ids({ reason: 'no_capacity', state: 'waiting' })).toEqual([]);
  const place = { entity: 'org-2', pool: 'gpu', workflow: 'CI', from: '2026-01-31T02:00:00Z' };
  const some = await ids({ ...place, state: 'waiting' });
  expect(some.length).toBeGreaterThan(0);
  expect(await ids({ ...place, reason: 'none' })).toEqual(some);
  const row = { reason: 'none', pools: ['gpu'], waiting: some.length };
  expect(await active({ ...place, by: 'reason' })).toMatchObject([row]);
  expect(endpoint.input.safeParse({ reason: 'at_pool_kap' }).success).toBe(false);
  await sql`update jobs set status = 'running', wants_worker = false, k8s_pod = 'w-1' where job_id = 101`.execute(
    database.db,
  );
  expect((await list({ state: 'running' })).items[0]).toMatchObject({
    id: 101,
    worker: 'w-1',
    wait: null,
  });
});

test('what lives is counted within its filters, workers only by what they have too (G1)', async () => {
  await putWorker(database.db, { entity_id: 2, entity_name: 'Org-2', k8s_pool: 'gpu' });
  const place = { entity: 'org-2', pool: 'gpu' };
  const waiting = (await ids({ ...place, state: 'waiting' })).length;
  const row = { entity: { id: 2, login: 'Org-2' }, pool: null, reason: null, waiting };
  expect(await active(place)).toMatchObject([{ ...row, starting: 1 }]);
  expect(await active({ ...place, from: '2026-01-30' })).toMatchObject([{ ...row, starting: 0 }]);
});
