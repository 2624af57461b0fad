import { beforeAll, expect, test } from '@jest/globals';
import { examplePools, putJob, putPools } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { putWorker } from '@paddock/testing/worker-rows';
import { sql } from 'kysely';
import { ask } from '../scenes/ask.scene.ts';
import { listPoolsEndpoint } from './list-pools.ts';

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
  await sql`insert into breakers (subject_type, subject_id, failure_class, failures, pauses, paused_until, message) values
    ('pool', 'linux', 'pod_refused', 3, 1, '2026-01-31T00:00:00Z', ${'quota\u001B[2J🐎'}),
    ('pool', 'linux@7#8', 'not_assigned', 3, 2, '2026-01-30T00:00:00Z', 'idle'),
    ('pool', 'linux@9', 'unexplained_end', 2, 0, null, 'failed twice'),
    ('cluster', 'default', 'away', 3, 1, null, 'no answer'),
    ('app', '1001', 'away', 3, 1, now(), 'of an App')`.execute(db);
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

test('the breakers that hold a pool back are its own, the cluster’s and GitHub’s (D12)', async () => {
  const [, gpu, linux] = await list();
  const ofCluster = {
    subject: 'cluster',
    entity: null,
    login: null,
    failure: 'away',
    message: 'no answer',
    until: null,
  };
  expect(gpu?.breakers).toEqual([ofCluster]);
  expect(linux?.breakers).toEqual([
    {
      subject: 'pool',
      entity: null,
      login: null,
      failure: 'pod_refused',
      message: 'quota\u001B[2J🐎',
      until: '2026-01-31T00:00:00.000Z',
    },
    {
      subject: 'pool',
      entity: 7,
      login: 'acme-today',
      failure: 'not_assigned',
      message: 'idle',
      until: '2026-01-30T00:00:00.000Z',
    },
    ofCluster,
  ]);
});

test('without pools and jobs there is none', async () => {
  await sql`truncate pools_documents, jobs, workers`.execute(database.db);
  expect(await list()).toEqual([]);
});
