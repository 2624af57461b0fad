import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { emptyTables, useTestDatabase } from '@paddock/testing/use-test-database';
import { putWorker } from '@paddock/testing/demand-rows';
import { sql } from 'kysely';
import { ask, askAll } from '../scenes/ask.scene.ts';
import { listNodesEndpoint } from './nodes.ts';
import { drainEndpoint } from './drain.ts';
import { findWorkerEndpoint, listWorkersEndpoint } from './workers.ts';

const database = useTestDatabase();
const list = (input: Readonly<Record<string, unknown>> = {}) =>
  ask(listWorkersEndpoint, database.db, input);
const listAll = (input: Readonly<Record<string, unknown>>) =>
  askAll(listWorkersEndpoint, database.db, { ...input, limit: '10' });
const find = (worker: string) => ask(findWorkerEndpoint, database.db, { worker });

const START = Date.parse('2026-01-31T00:00:00Z');
const at = (hours: number) => new Date(START + hours * 3_600_000);
const STATES = ['pending', 'running', 'stopping', 'ended', 'failed'] as const;
const STATUS = { stopping: 'running', ended: 'completed' } as const;
const STOPS: Partial<Record<(typeof STATES)[number], string>> = {
  stopping: 'surplus',
  ended: 'drained',
  failed: 'offline',
};

beforeAll(async () => {
  for (let n = 0; n < 60; n += 1) {
    const state = STATES[n % 5] ?? 'ended';
    const status = state === 'stopping' || state === 'ended' ? STATUS[state] : state;
    await putWorker(database.db, {
      pod_name: `w-${String(n).padStart(2, '0')}`,
      // Half of those that ended well were drained.
      status: state === 'ended' && n % 2 > 0 ? 'failed' : status,
      entity_id: (n % 2) + 1,
      k8s_pool: n % 7 < 4 ? 'linux' : 'gpu',
      k8s_node: `node-${n % 3}`,
      stopping_at: state === 'stopping' ? at(30) : null,
      // And one in twenty was given back before it was made.
      stop_reason: n % 20 === 3 ? 'unwanted' : (STOPS[state] ?? null),
      completed_at: state === 'ended' || state === 'failed' ? at(40) : null,
      created_at: at(Math.floor(n / 3)),
    });
  }
  // Of three workers two have one instant, and the other one is older by less than a millisecond.
  await sql`update workers set created_at = created_at + interval '1 microsecond'
    where right(pod_name, 2)::integer % 3 > 0`.execute(database.db);
});

describe('the list of workers (D12)', () => {
  type Item = Awaited<ReturnType<typeof list>>['items'][number];
  let all: Item[];
  beforeAll(async () => {
    all = await listAll({});
  });

  test('has all of them, newest first, each once, also those of one instant and of one millisecond', () => {
    const names = Array.from({ length: 60 }, (_, n) => `w-${String(59 - n).padStart(2, '0')}`);
    expect(all.map(({ name }) => name)).toEqual(names);
    expect(all.slice(-5).map(({ state }) => state)).toEqual(STATES.toReversed());
  });

  const FILTERS: Readonly<Record<string, readonly [string, (worker: Item) => boolean]>> = {
    entity: ['2', ({ entity }) => entity.id === 2],
    pool: ['gpu', ({ pool }) => pool === 'gpu'],
    node: ['node-1', ({ node }) => node === 'node-1'],
    reason: ['drained', ({ stop }) => stop?.reason === 'drained'],
    from: ['2026-01-31T05:00:00Z', ({ createdAt }) => createdAt >= '2026-01-31T05'],
    to: ['2026-01-31T15:00:00Z', ({ createdAt }) => createdAt < '2026-01-31T15'],
  };
  const OFFERED = ['', ...STATES].flatMap((state) =>
    ['from to', 'entity pool from'].map((filters) => [state, filters]),
  );

  OFFERED.push(['', 'reason pool'], ['ended', 'reason'], ['', 'node'], ['failed', 'node']);

  test.each(OFFERED)('of state %j filters by %j', async (state = '', filters = '') => {
    const chosen = filters
      .split(' ')
      .map((name) => [name, FILTERS[name] ?? ['', () => false]] as const);
    const input = Object.fromEntries(chosen.map(([name, [value]]) => [name, value]));
    const meant = all.filter(
      (worker) =>
        (state === '' || worker.state === state) && chosen.every(([, [, fits]]) => fits(worker)),
    );
    expect(meant).not.toEqual([]);
    expect(await listAll(state === '' ? input : { ...input, state })).toEqual(meant);
  });
});

describe('a worker (D12)', () => {
  const container = { name: 'runner', exitCode: 1, reason: 'Error', message: null };
  const diagnosis = (log: object) =>
    JSON.stringify({
      version: 2,
      reason: 'exit_code',
      message: 'x'.repeat(5_000),
      containers: [{ ...container, ...log }],
      events: [],
    });

  test('that is stuck or stopping says why in the list, shortly', async () => {
    await putWorker(database.db, {
      pod_name: 'w-stuck',
      stuck_reason: 'image_pull',
      stuck_at: at(1),
      failure_info: diagnosis({ log: null }),
    });
    const { items } = await list({ limit: '1' });
    expect(items).toMatchObject([
      { name: 'w-stuck', stuck: { reason: 'image_pull', since: '2026-01-31T01:00:00.000Z' } },
    ]);
    expect(items[0]?.failure).toHaveLength(300);
    const [stopping] = (await list({ state: 'stopping' })).items;
    expect(stopping?.stop).toEqual({ reason: 'surplus', since: '2026-02-01T06:00:00.000Z' });
  });

  test('is found with its timeline in order, its diagnosis and the end of its log', async () => {
    const log = `last words \u001B[2J${'🐎'.repeat(500)}\n`;
    await putWorker(database.db, {
      pod_name: 'w-failed',
      status: 'failed',
      assigned_job_id: 77,
      registered_at: at(1),
      running_at: at(2),
      completed_at: at(3),
      created_at: at(0),
      failure_info: diagnosis({ log }),
    });
    const worker = await find('w-failed');
    expect(worker).toMatchObject({
      state: 'failed',
      job: 77,
      diagnosis: { reason: 'exit_code', containers: [{ log }] },
      noLog: null,
    });
    expect(worker.timeline.map(({ what }) => what)).toEqual([
      'reserved',
      'registered',
      'pod runs',
      'ended',
    ]);
  });
});

const put = async (given: Parameters<typeof putWorker>[1] = {}) =>
  (await putWorker(database.db, given)).pod_name;
const drain = (name: string) => ask(drainEndpoint, database.db, { of: 'worker', name });
const row = () =>
  database.db
    .selectFrom('workers')
    .select(['stopping_at', 'stop_reason'])
    .executeTakeFirstOrThrow();

test('nodes tell the workers on them, and what went wrong with some in the last day, the latest first', async () => {
  await emptyTables(database.db, ['workers']);
  const now = new Date();
  await put({ k8s_node: 'a', status: 'running', assigned_at: now });
  await put({ k8s_node: 'a', status: 'running' });
  const failure_info = JSON.stringify({ version: 1, message: 'low on memory' });
  const ended = { status: 'failed', failure_info, stop_reason: 'evicted' } as const;
  const failed = { ...ended, completed_at: now };
  await put({ k8s_node: 'b', ...failed });
  const newest = await put({ k8s_node: 'b', ...failed, completed_at: new Date(Date.now() + 1) });
  await put({ k8s_node: 'c', ...failed, created_at: at(0) });
  const stuck = await put({ k8s_node: 'd', stuck_reason: 'image_pull', stuck_at: now });
  const { items } = await ask(listNodesEndpoint, database.dbOf('console'));
  expect(items).toMatchObject([
    { node: 'b', workers: 0, troubles: [{ workers: 2, worker: newest }] },
    { node: 'd', workers: 1, busy: 0, troubles: [{ reason: 'image_pull', worker: stuck }] },
    { node: 'a', workers: 2, busy: 1, troubles: [] },
  ]);
});

describe('draining a worker (F5)', () => {
  beforeEach(() => emptyTables(database.db, ['workers', 'tasks', 'actions']));

  const now = new Date();

  test.each([
    ['is idle', {}],
    ['stops until a job needs it', { stopping_at: now, stop_reason: 'surplus' }],
  ])('that %s requests its stop for good', async (_what, given) => {
    const worker = await put(given);
    expect(await drain(worker)).toMatchObject({
      kind: 'stop-worker',
      subject: { type: 'worker', id: worker },
      origin: 'MANUAL',
      requestedBy: 'ada',
    });
    expect(await row()).toEqual({ stopping_at: expect.any(Date), stop_reason: 'drained' });
  });

  test.each([
    ['has ended', { status: 'failed', completed_at: now } as const, 409],
    ['runs a job', { status: 'running', assigned_at: now } as const, 409],
  ])('that %s is refused', async (_what, given, status) => {
    const worker = await put(given);
    await expect(drain(worker)).rejects.toMatchObject({ status });
    expect(await row()).toEqual({ stopping_at: null, stop_reason: null });
    expect(await database.db.selectFrom('tasks').select('id').execute()).toEqual([]);
  });
});
