import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { lockMatching } from '@paddock/db/matching/matching-lock';
import { putJob, putPools, putWorker } from '@paddock/testing/demand-rows';
import { emptyAll, useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { listActionsEndpoint } from '../actions/list-actions.ts';
import { findOperationEndpoint } from '../operations/operation.ts';
import { ask, putKey } from '../scenes/ask.scene.ts';
import { drainEndpoint } from '../workers/drain.ts';
import { listSwitchesEndpoint } from '../switches/switches.ts';
import { findPoolEndpoint } from './pool.ts';
import { listPoolsEndpoint } from './pools.ts';

const database = useTestDatabase();
const empty = () => emptyAll(database.db);

const drain = (more: object = {}) =>
  ask(drainEndpoint, database.dbOf('console'), { of: 'pool', name: 'linux', ...more });
const put = async (given: Parameters<typeof putWorker>[1] = {}) =>
  (await putWorker(database.db, given)).pod_name;
const stops = async () => {
  const stopped = database.db.selectFrom('workers').where('stop_reason', '=', 'drained');
  return (await stopped.select('pod_name').orderBy('pod_name').execute()).map(
    (row) => row.pod_name,
  );
};
const tasks = async () => {
  const queued = database.db.selectFrom('tasks').where('kind', '=', 'stop-worker');
  const rows = await queued.select('subject_id').orderBy('subject_id').execute();
  return rows.map((row) => row.subject_id);
};
const actions = async () => (await ask(listActionsEndpoint, database.db)).items;
const switches = async () => (await ask(listSwitchesEndpoint, database.db)).items;

describe('draining a pool (F5)', () => {
  beforeEach(async () => {
    await empty();
    await putPools(database.db);
  });

  test('stops the making, and each worker that no job is known to run on, once (C12)', async () => {
    const now = new Date();
    const wanted = [
      await put(),
      await put({ status: 'running', running_at: now, registered_at: now }),
      // It would serve the next job.
      await put({ stopping_at: now, stop_reason: 'surplus' }),
    ].toSorted();
    await put({ status: 'running', assigned_at: now });
    await put({ status: 'completed', completed_at: now });
    await put({ stopping_at: now, stop_reason: 'offline' });
    await put({ stopping_at: now, stop_reason: 'surplus', deregistration_started_at: now });
    await put({ k8s_pool: 'gpu' });

    const counts = { stopping: 3, busy: 1 };
    expect(await drain({ dryRun: true })).toMatchObject({
      subject: { type: 'dry-run', id: 'linux' },
      status: 'OK',
      output: { dryRun: true, ...counts },
    });
    expect([await stops(), await tasks(), await switches()]).toEqual([[], [], []]);
    const note = 'new image';
    const drained = await drain({ note });
    expect(drained).toMatchObject({
      kind: 'drain-pool',
      subject: { type: 'pool', id: 'linux' },
      status: 'OK',
      output: counts,
      askers: [{ person: 'ada' }],
    });
    expect(await ask(findOperationEndpoint, database.db, { operation: drained.id })).toEqual(
      drained,
    );
    expect([await stops(), await tasks()]).toEqual([wanted, wanted]);
    expect(await switches()).toMatchObject([{ subject: 'pool:linux', by: 'ada', note }]);
    expect(await actions()).toMatchObject([
      { subject: { of: 'pool', name: 'linux' }, note, operation: drained.id },
      { endpoint: 'drain', subject: { name: 'linux', dryRun: 'true' } },
    ]);
    expect(await drain()).toMatchObject({ output: { stopping: 0, busy: 1 } });
  });

  test('waits for the pass of matching that is under way, and stops its workers too (C12)', async () => {
    const limits = { lockTimeoutMs: 5_000, statementTimeoutMs: 5_000, idleTimeoutMs: 5_000 };
    const pass = await database.db.startTransaction().execute();
    await lockMatching(pass, limits);
    const drained = drain();
    await waitFor('the drain waits', async () => {
      const { rows } = await sql`select from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`.execute(
        pass,
      );
      return rows.length > 0;
    });
    await putWorker(pass);
    await pass.commit().execute();
    expect(await drained).toMatchObject({ output: { stopping: 1 } });
    expect(await stops()).toHaveLength(1);
  });
});

/** Between two instants, so that it does not matter how long the test takes. */
const ago = (minutes: number, now = Date.now()) => new Date(now - (minutes - 0.5) * 60_000);

describe('the last hour', () => {
  beforeAll(async () => {
    const { db } = database;
    await empty();
    await putPools(db);
    const a = { k8s_pool: 'a' };
    const ended = { ...a, status: 'completed' as const, wants_worker: false };
    // Waited from 30 to 20 minutes ago, at GitHub a minute longer.
    await putJob(db, {
      ...ended,
      created_at: ago(30),
      queued_at: ago(31),
      started_at: ago(20),
      completed_at: ago(5),
    });
    // Clocks differ: it started before it was stored, and before it was queued.
    await putJob(db, { ...ended, created_at: ago(10), queued_at: ago(9), started_at: ago(11) });
    // Never started.
    await putJob(db, { ...ended, created_at: ago(15), completed_at: ago(12) });
    await putJob(db, { ...a, created_at: ago(200), wants_worker: true });
    await putJob(db, {
      ...ended,
      created_at: ago(200),
      started_at: ago(199),
      completed_at: ago(100),
    });
    await putWorker(db, {
      ...a,
      pod_name: 'w-1',
      status: 'completed',
      created_at: ago(400),
      assigned_at: ago(40),
      completed_at: ago(5),
    });
    await putWorker(db, { ...a, pod_name: 'w-2', status: 'running', created_at: ago(10) });
    await putWorker(db, { k8s_pool: 'b', pod_name: 'w-3', created_at: ago(0.6) });
    // Of a wrong clock: they come later than the hour has instants.
    await putJob(db, { ...a, created_at: ago(-5), wants_worker: true });
    await putWorker(db, { ...a, pod_name: 'w-4', status: 'running', created_at: ago(-5) });
  });

  test('stays, though GitHub says that a job started in the year 9999', async () => {
    const read = async () => {
      const { items } = await ask(listPoolsEndpoint, database.db, { pool: 'a', minutes: 'true' });
      return items.map(({ lastHour, minutes }) => [lastHour, minutes?.waiting.at(-1)]);
    };
    const before = await read();
    const started_at = new Date('9999-12-31T00:00:00Z');
    const running = { k8s_pool: 'a', status: 'running', wants_worker: false } as const;
    await putJob(database.db, { ...running, created_at: ago(1), queued_at: ago(2), started_at });
    expect(await read()).toEqual(before);
    await database.db.deleteFrom('jobs').where('started_at', '=', started_at).execute();
  });

  test('follows from the instants of jobs and workers', async () => {
    const { items } = await ask(listPoolsEndpoint, database.db, { minutes: 'true' });
    expect(items.map(({ name, minutes }) => minutes && name)).toEqual(['a', 'b', null]);
    const [{ minutes: a } = {}] = items;
    expect(Math.abs(Date.parse(a?.at ?? '') - Date.now())).toBeLessThan(60_000);
    const before = (minutes: number) => {
      const n = 60 - minutes;
      return [a?.waiting[n], a?.workers[n], a?.busy[n]];
    };
    expect([60, 41, 35, 29, 25, 19, 13, 9, 6, 4, 0].map(before)).toEqual([
      [1, 1, 0],
      [1, 1, 0],
      [1, 1, 1],
      [2, 1, 1],
      [2, 1, 1],
      [1, 1, 1],
      [2, 1, 1],
      [1, 2, 1],
      [1, 2, 1],
      [1, 1, 0],
      [1, 1, 0],
    ]);
    const queued = a?.queuedP50Ms.map((ms, n) => ({ minutes: 60 - n, ms }));
    expect(queued?.filter(({ ms }) => ms !== null)).toEqual([
      { minutes: 19, ms: expect.closeTo(11 * 60_000, -3) },
      { minutes: 10, ms: 0 },
    ]);
  });
});

describe('one pool', () => {
  beforeAll(async () => {
    const { db } = database;
    await empty();
    await sql`truncate pools_documents restart identity`.execute(db);
    const load = (given: object, cpu: string, password = 'one') => {
      const env = [{ name: 'DB_PASSWORD', value: password }];
      const spec = { containers: [{ name: 'runner', env, args: [] }] };
      const resources = { requests: { cpu }, limits: { memory: '8Gi' } };
      return putPools(db, { pools: [{ resources, template: { spec }, ...given }] });
    };
    await load({ name: 'other' }, '1');
    await load({}, '1');
    await load({}, '2');
    await load({}, '2', 'two');
    await load({ image: 'ghcr.io/acme/runner:2' }, '2', 'two');
    await load({ image: 'ghcr.io/acme/runner:2' }, '2', 'two'); // nothing new
    const short = { stuck_reason: 'unschedulable', stuck_at: ago(3) };
    for (const pod_name of ['pdk-a-1', 'pdk-a-2']) {
      const failure_info = JSON.stringify({ message: `Insufficient cpu for ${pod_name}.` });
      await putWorker(db, { ...short, pod_name, failure_info });
    }
    const failed = { status: 'failed', completed_at: ago(5), created_at: ago(9) } as const;
    const killed = { ...failed, stop_reason: 'out_of_memory', k8s_node: 'node-1' };
    await putWorker(db, killed);
    // Neither a person's will nor another pool's trouble is told.
    await putWorker(db, { ...failed, stop_reason: 'drained' });
    await putWorker(db, { ...killed, k8s_pool: 'other' });
    await putKey(db, await putJob(db), null);
    await sql`update demand_keys set failures = 2, failure_class = 'pod_refused', failure_message = 'exceeded quota: cpu', failing_since = now(), failed_at = now()`.execute(
      db,
    );
  });

  test('says how it is set, what went wrong with its workers, what to do, and what changed last (P5)', async () => {
    const pool = await ask(findPoolEndpoint, database.dbOf('console'), { pool: 'linux' });
    expect(pool).toMatchObject({
      settings: { image: 'ghcr.io/acme/runner:2', 'resources.requests.cpu': '2' },
      template: expect.stringMatching(/name: DB_PASSWORD\n +value: "\[hidden\]"/),
    });
    expect(pool.troubles.map(({ sentence, nodes }) => [sentence, nodes])).toEqual([
      ['2 pods could not be made: exceeded quota: cpu.', []],
      ['2 workers could not be scheduled: Insufficient cpu for ….', []],
      ['1 worker ran out of memory.', ['node-1']],
    ]);
    expect(pool.troubles[1]?.advice).toMatch(/^Add nodes/);
    const image = 'image: ghcr.io/acme/runner';
    expect(pool.changes).toMatchObject([
      { version: 5, lines: [`- ${image}:1`, `+ ${image}:2`] },
      { version: 4, lines: ['a value that is hidden'] },
      { version: 3, lines: ['- resources.requests.cpu: 1', '+ resources.requests.cpu: 2'] },
      { version: 2, lines: ['+ the pool'] },
    ]);
    // What the file no longer has.
    const former = await ask(findPoolEndpoint, database.db, { pool: 'other' });
    expect(former).toMatchObject({
      changes: [{ lines: ['- the pool'] }, { lines: ['+ the pool'] }],
      settings: {},
    });
    const unknown = ask(findPoolEndpoint, database.db, { pool: 'none' });
    await expect(unknown).rejects.toMatchObject({ status: 404 });
  });
});

const list = async () => (await ask(listPoolsEndpoint, database.db)).items;

describe('the list of pools', () => {
  beforeAll(async () => {
    const { db } = database;
    await empty();
    await putPools(db, { pools: [{ maxWorkers: 4 }, { name: 'gpu', labels: ['gpu'] }] });
    const oldest = new Date('2026-01-31T00:00:00Z');
    await putJob(db, { created_at: oldest });
    await putJob(db);
    await putJob(db, { k8s_pool: 'former' });
    const now = Date.now();
    // Started within the hour after 1, 2 and 3 minutes, earlier, and before GitHub queued it by its clock.
    for (const [queued, started, pool] of [
      [20, 19, 'linux'],
      [12, 10, 'linux'],
      [13, 10, 'linux'],
      [600, 500, 'linux'],
      [9, 10, 'gpu'],
    ] as const)
      await putJob(db, {
        status: 'running',
        wants_worker: false,
        k8s_pool: pool,
        queued_at: ago(queued, now),
        started_at: ago(started, now),
        created_at: ago(queued, now),
      });
    await putWorker(db);
    await putWorker(db, { status: 'running' });
    await putWorker(db, { status: 'running', assigned_at: oldest });
    await putWorker(db, { status: 'running', stopping_at: oldest });
    await putWorker(db, { status: 'completed', completed_at: oldest });
  });

  test('each pool says its demand, its supply and its cap (D12)', async () => {
    expect(await list()).toMatchObject([
      {
        name: 'former',
        inForce: false,
        labels: [],
        demand: { waiting: 1 },
        lastHour: { started: 0, queuedP50Ms: null },
      },
      {
        name: 'gpu',
        demand: { waiting: 0, oldestSince: null, oldestJob: null },
        supply: { starting: 0, idle: 0, busy: 0, stopping: 0 },
        cap: null,
        lastHour: { started: 1, queuedP50Ms: 0, queuedP95Ms: 0 },
      },
      {
        name: 'linux',
        inForce: true,
        labels: ['linux', 'self-hosted'],
        demand: {
          waiting: 2,
          oldestSince: '2026-01-31T00:00:00.000Z',
          oldestJob: expect.any(Number),
        },
        supply: { starting: 1, idle: 1, busy: 1, stopping: 1 },
        cap: { used: 4, limit: 4 },
        lastHour: { started: 3, queuedP50Ms: 120_000, queuedP95Ms: 174_000 },
      },
    ]);
  });
});
