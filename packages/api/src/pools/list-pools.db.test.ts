import { beforeAll, expect, test } from '@jest/globals';
import { examplePools, putJob, putPools } from '@paddock/testing/demand-rows';
import { noteAway } from '@paddock/db/outages';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { putWorker } from '@paddock/testing/worker-rows';
import { sql } from 'kysely';
import { ask } from '../scenes/ask.scene.ts';
import { listPoolsEndpoint } from './pools.ts';

const database = useTestDatabase();
const list = async () => (await ask(listPoolsEndpoint, database.db)).items;

beforeAll(async () => {
  const { db } = database;
  await putPools(
    db,
    examplePools({ pools: [{ maxWorkers: 4 }, { name: 'gpu', labels: ['gpu'] }] }),
  );
  const oldest = new Date('2026-01-31T00:00:00Z');
  await putJob(db, { created_at: oldest });
  await putJob(db);
  await putJob(db, { k8s_pool: 'former' });
  const now = Date.now();
  const ago = (minutes: number) => new Date(now - minutes * 60_000);
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
      queued_at: ago(queued),
      started_at: ago(started),
      created_at: ago(queued),
    });
  await putWorker(db);
  await putWorker(db, { status: 'running' });
  await putWorker(db, { status: 'running', assigned_at: oldest });
  await putWorker(db, { status: 'running', stopping_at: oldest });
  await putWorker(db, { status: 'completed', completed_at: oldest });
  await sql`insert into installations (entity_id, app_id, installation_id, login, entity_type, stated_at, deleted_at, updated_at) values
    (7, 1, 70, 'acme-then', 'Organization', now(), now(), now()), (7, 2, 71, 'acme-today', 'Organization', now(), null, now() - interval '1 day')`.execute(
    database.db,
  );
  await sql`insert into demand_keys (demand_key, entity_id, entity_name, scope_repo_id, k8s_pool, waiting, unassigned,
      failures, pauses, failure_class, failure_message, failing_since, paused_until) values
    (1, 9, 'globex', 0, 'linux', 0, 0, 3, 1, 'pod_refused', ${'quota\u001B[2J🐎'}, '2026-01-30T00:00:00Z', '2026-01-31T00:00:00Z'),
    (2, 7, 'acme-then', 0, 'linux', 0, 0, 3, 2, 'not_assigned', 'idle', '2026-01-29T00:00:00Z', '2026-01-30T00:00:00Z'),
    (3, 9, 'globex', 3, 'linux', 0, 0, 2, 0, 'exit_code', 'failed twice', '2026-01-29T00:00:00Z', null)`.execute(
    db,
  );
  await noteAway(db, 'default', 'no answer');
});

test('each pool says its demand, its supply, its cap, and how long jobs were queued (D12)', async () => {
  const [former, gpu, linux] = await list();
  expect(linux).toMatchObject({
    name: 'linux',
    inForce: true,
    labels: ['linux', 'self-hosted'],
    demand: { waiting: 2, oldestSince: '2026-01-31T00:00:00.000Z', oldestJob: expect.any(Number) },
    supply: { starting: 1, idle: 1, busy: 1, stopping: 1 },
    cap: { used: 4, limit: 4 },
    lastHour: { started: 3, queuedP50Ms: 120_000, queuedP95Ms: 174_000 },
  });
  expect(gpu).toMatchObject({
    name: 'gpu',
    demand: { waiting: 0, oldestSince: null, oldestJob: null },
    supply: { starting: 0, idle: 0, busy: 0, stopping: 0 },
    cap: null,
    lastHour: { started: 1, queuedP50Ms: 0, queuedP95Ms: 0 },
  });
  expect(former).toMatchObject({
    name: 'former',
    inForce: false,
    labels: [],
    demand: { waiting: 1 },
    lastHour: { started: 0, queuedP50Ms: null },
  });
});

test('what holds a pool back: services that are away, and keys that were paused (D12)', async () => {
  const [, gpu, linux] = await list();
  const ofCluster = {
    what: 'default',
    entity: null,
    login: null,
    message: 'no answer',
    since: expect.any(String),
    until: null,
  };
  expect(gpu?.heldBack).toEqual([ofCluster]);
  expect(linux?.heldBack).toEqual([
    ofCluster,
    {
      what: 'pod_refused',
      entity: 9,
      login: 'globex',
      message: 'quota\u001B[2J🐎',
      since: '2026-01-30T00:00:00.000Z',
      until: '2026-01-31T00:00:00.000Z',
    },
    {
      what: 'not_assigned',
      entity: 7,
      login: 'acme-today',
      message: 'idle',
      since: '2026-01-29T00:00:00.000Z',
      until: '2026-01-30T00:00:00.000Z',
    },
  ]);
});
