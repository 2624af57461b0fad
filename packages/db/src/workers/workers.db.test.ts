import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { isWorkerName, workerName } from '@paddock/domain/workers/worker-name';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { putJob, putWorker } from '@paddock/testing/demand-rows';
import { untilBlocked } from '@paddock/testing/sessions';
import { sql } from 'kysely';
import { connectDatabase } from '../connection/connect.ts';
import { findInstance } from '../instance.ts';
import { newWorkerName } from '../matching/reserve-workers.ts';
import { adoptWorkers, type PodToAdopt } from './registrations.ts';
import { findFittingRuns, saveRunnerReadings } from './runner-readings.ts';
import {
  endStoppedWorker,
  findWorkerToStop,
  keepWorker,
  markDeregistered,
  markDeregistering,
  noteRunsRead,
} from './stopping-workers.ts';
import { recordPodStates } from './worker-pods.ts';
import { requestStops } from './worker-stops.ts';
import { failUnstartedWorker } from './workers.ts';

/** The only connection: every statement keeps the plan of its first executions. */
let plans: ReturnType<typeof connectDatabase>;
afterAll(() => plans.close());
const database = useTestDatabase();
beforeAll(() => {
  const { url, schema } = database;
  plans = connectDatabase({ url, schema, applicationName: 'kept-plans', poolSize: 1 });
});

test.each(['linux', 'v1.29.3-arm', 'p'.repeat(30)])(
  'PostgreSQL names workers of the pool %s as the domain does (A8)',
  async (pool) => {
    const instance = await findInstance(database.db);
    const made = newWorkerName(sql<string>`instance_id`, sql<string>`${pool}::text`);
    const { rows } = await sql<{
      name: string;
    }>`select ${made} as name from instance, generate_series(1, 2)`.execute(database.db);
    const names = rows.map(({ name }) => name);
    expect(new Set(names).size).toBe(2);
    for (const name of names) {
      expect(name).toBe(workerName(instance, pool, name.slice(-12)));
      expect(isWorkerName(name, instance)).toBe(true);
    }
  },
);

const pod = (podName: string): PodToAdopt => ({
  podName,
  podUid: `uid of ${podName}`,
  podCreatedAt: new Date(),
  namespace: 'runners',
  pool: 'linux',
  image: 'runner:1',
  entityId: 11,
  scopeRepoId: 0,
  madeForJobId: null,
  deliveryGuid: null,
  entityType: 'Organization',
  entityName: 'acme',
  appId: 1001,
  installationId: 31,
  repoFullName: null,
});

test('a row that has come meanwhile stays as it is, and the other pods are adopted (A5, E6)', async () => {
  const there = await putWorker(database.db);
  const adopt = () =>
    database.db
      .transaction()
      .execute((trx) => adoptWorkers(trx, [pod(there.pod_name), pod('pdk-left')]));
  expect(await adopt()).toEqual(['pdk-left']);
  expect(
    await database.db
      .selectFrom('workers')
      .selectAll()
      .where('pod_name', '=', there.pod_name)
      .execute(),
  ).toEqual([there]);
});

const ASKS = {
  'asked to stop': (podName: string) =>
    database.db
      .transaction()
      .execute(async (trx) => (await requestStops(trx, [{ podName, reason: 'over' }])).length > 0),
  deregistered: (podName: string) => markDeregistering(database.db, podName),
};

test.each([
  ['asked to stop', {}],
  ['deregistered', { stopping_at: new Date(), stop_reason: 'over' }],
] as const)(
  'a worker believed to have had its job is not %s while a delivery binds it to one that runs (P2)',
  async (what, stopping) => {
    const { pod_name: podName } = await putWorker(database.db, {
      status: 'running',
      assigned_at: new Date(),
      ...stopping,
    });
    const { asked } = await database.db.transaction().execute(async (trx) => {
      const { job_id } = await putJob(trx, { status: 'running', wants_worker: false });
      await trx
        .updateTable('workers')
        .set({ assigned_job_id: job_id })
        .where('pod_name', '=', podName)
        .execute();
      const asking = ASKS[what](podName);
      await untilBlocked(database.db);
      return { asked: asking };
    });
    expect(await asked).toBe(false);
  },
);

test('a worker may run any job of its entity, in any pool, that has no label beyond the worker’s and is not known to run (E5, P2)', async () => {
  const { pod_name: podName } = await putWorker(database.db, {
    status: 'running',
    registered_labels: '["gpu", "linux"]',
  });
  await putJob(database.db, { run_id: 1, k8s_pool: 'of-others' });
  await putJob(database.db, { run_id: 2, wants_worker: false });
  await putJob(database.db, { run_id: 3, status: 'failed' });
  await putJob(database.db, { run_id: 4, job_labels: '["linux", "windows"]' });
  await putJob(database.db, { run_id: 5, entity_id: 7 });
  await putJob(database.db, { run_id: 6, status: 'running', wants_worker: false });
  const runs = async (limit: number, readFrom: number | null = null) =>
    (await findFittingRuns(database.db, podName, { limit, readFrom })).map(({ runId }) => runId);
  expect(await runs(3)).toEqual([3, 2, 1]);
  expect(await runs(1)).toHaveLength(2);
  expect(await runs(3, 3)).toEqual([2, 1]);
});

test.each([
  ['online and idle', { isKnown: true, isOnline: true, isBusy: false }, ['idle']],
  ['offline', { isKnown: true, isOnline: false, isBusy: false }, ['idle', 'offline']],
  ['busy', { isKnown: true, isOnline: true, isBusy: true }, []],
  ['busy and offline', { isKnown: true, isOnline: false, isBusy: true }, ['offline']],
  ['unknown', { isKnown: false, isOnline: false, isBusy: false }, []],
])(
  'a runner that was idle and offline for an hour, and is called %s: any other word begins the time anew (E5, P2)',
  async (_word, says, goesOn) => {
    const anHourAgo = new Date(Date.now() - 3_600_000);
    const known = { status: 'running', idle_since: anHourAgo, offline_since: anHourAgo } as const;
    const { pod_name: podName } = await putWorker(database.db, known);
    const [read] = await saveRunnerReadings(database.db, [{ podName, ...says }]);
    const forMs = { idle: read?.idleForMs, offline: read?.offlineForMs };
    const long = Object.entries(forMs).filter(([, ms]) => (ms ?? 0) > 3_000_000);
    expect(long.map(([word]) => word)).toEqual(goesOn);
  },
);

test('a worker that was to end as one without a pod does not end once its pod was seen (A3)', async () => {
  const unstarted = await putWorker(database.db, { pod_uid: 'seen' });
  const why = { reason: 'pool_unknown', message: 'ended' };
  const fail = (podName: string) =>
    database.db.transaction().execute((trx) => failUnstartedWorker(trx, podName, why));
  expect(await fail(unstarted.pod_name)).toBe(false);
  expect(await fail((await putWorker(database.db)).pod_name)).toBe(true);
  const { pod_name: podName } = await putWorker(database.db, {
    stopping_at: new Date(),
    stop_reason: 'surplus',
    pod_uid: 'seen',
  });
  const end = (hadPod: boolean) =>
    database.db
      .transaction()
      .execute((trx) => endStoppedWorker(trx, podName, { hadPod, message: 'ended' }));
  expect([await end(false), await end(true)]).toEqual([false, true]);
});

test('runs that were read before the deregistration are read again after it (P2)', async () => {
  const { pod_name: podName } = await putWorker(database.db, {
    stopping_at: new Date(),
    stop_reason: 'idle',
    stop_held_by: 'its log cannot be read',
    stop_held_since: new Date(),
  });
  const stopping = () => findWorkerToStop(database.db, podName, []);
  const read = await stopping();
  if (read === undefined) throw new Error('There is a worker.');
  await noteRunsRead(database.db, read, 7);
  expect(await stopping()).toMatchObject({ runsReadFrom: 7, heldBy: 'its log cannot be read' });
  expect(await markDeregistering(database.db, podName)).toBe(true);
  expect(await stopping()).toMatchObject({ runsReadFrom: null, heldBy: null });
  // An attempt that stood still since before it: its word would pass over the newest runs.
  await noteRunsRead(database.db, read, 7);
  await markDeregistered(database.db, podName);
  expect(await stopping()).toMatchObject({ runsReadFrom: null });
  await noteRunsRead(database.db, read, 7);
  expect(await stopping()).toMatchObject({ deregistration: 'done', runsReadFrom: null });
});

test('a worker that is kept after all is as if nobody had asked for its stop, so that another stop begins at its beginning (E5, P2)', async () => {
  const since = new Date();
  const stopped = {
    stopping_at: since,
    stop_reason: 'pod_gone',
    stop_held_by: 'its log cannot be read',
    stop_held_since: since,
    runs_read_from: 7,
    unexplained_until: since,
    deregistration_started_at: since,
    pod_gone_at: since,
  };
  const { pod_name: podName } = await putWorker(database.db, { status: 'running', ...stopped });
  await keepWorker(database.db, podName, { isAssigned: false });
  const workers = database.db.selectFrom('workers').selectAll().where('pod_name', '=', podName);
  expect(await workers.executeTakeFirstOrThrow()).toMatchObject({
    ...Object.fromEntries(Object.keys(stopped).map((column) => [column, null])),
    assigned_at: null,
  });
});

/** How many entries of indexes of workers this connection has read. */
async function reads(): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(plans.db);
  const { rows } = await sql<{ entries: number }>`
    select sum(idx_tup_read)::integer as entries from pg_stat_user_indexes where relname = 'workers' and schemaname = current_schema()`.execute(
    plans.db,
  );
  return rows[0]?.entries ?? Number.NaN;
}

/** The pod of a new worker runs on its node. */
async function changePod(): Promise<void> {
  const { pod_name: podName } = await putWorker(plans.db);
  const seen = { podName, podUid: podName, podCreatedAt: new Date(), node: 'a', runningAt: null };
  const end = { endedAt: null, exitCode: null, isRunnerOver: false, endedBy: null, message: null };
  const leave = { isUnschedulable: false, terminatingAt: null, terminatingSeconds: null };
  const reasons = { stuckReason: null, failureReason: null };
  const state = { ...seen, ...end, ...leave, ...reasons, phase: 'running' } as const;
  const { changed, unknown } = await recordPodStates(plans.db, [state], 1_000);
  expect(changed).toMatchObject([{ podName, status: 'running' }]);
  expect(unknown).toEqual([]);
}

test('a pod’s change looks its worker up, though the plan was kept while there were few', async () => {
  for (let n = 0; n < 10; n++) await changePod();
  for (let n = 0; n < 500; n++) await putWorker(plans.db);
  const before = await reads();
  await changePod();
  expect((await reads()) - before).toBeLessThan(20);
});
