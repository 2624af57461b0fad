import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { isWorkerName, workerName } from '@paddock/domain/workers/worker-name';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { putInstallation, putJob, putWorker } from '@paddock/testing/demand-rows';
import { untilBlocked } from '@paddock/testing/sessions';
import { sql } from 'kysely';
import { connectDatabase } from '../connection/connect.ts';
import { findInstance } from '../instance.ts';
import { newWorkerName } from '../matching/reserve-workers.ts';
import { takeBackWorkers } from '../matching/spare-workers.ts';
import type { Trx } from '../schema/tables.ts';
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
import { findListableRunners, requestStops } from './worker-stops.ts';
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
  ['online and idle', { runnerId: 9, isOnline: true, isBusy: false }, ['idle']],
  ['offline', { runnerId: 9, isOnline: false, isBusy: false }, ['idle', 'offline']],
  ['busy', { runnerId: 9, isOnline: true, isBusy: true }, []],
  ['busy and offline', { runnerId: 9, isOnline: false, isBusy: true }, ['offline']],
  ['unknown', { runnerId: null, isOnline: false, isBusy: false }, []],
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

test.each([
  ['of its repository that runs', {}, true],
  ['of another repository', { repo_id: 6 }, false],
  ['of another entity', { entity_id: 12 }, false],
  ['that has ended', { status: 'completed' }, false],
] as const)(
  'an adopted pod is bound to a job that names it only if that is one of its own and runs: one %s (B7, E6)',
  async (what, job, isBound) => {
    const name = `pdk-adopted-${what.replaceAll(' ', '-')}`;
    const known = { entity_id: 11, repo_id: 5, status: 'running', runner_name: name } as const;
    const { job_id: jobId } = await putJob(database.db, { ...known, wants_worker: false, ...job });
    const adopted = { ...pod(name), scopeRepoId: 5 };
    await database.db.transaction().execute((trx) => adoptWorkers(trx, [adopted]));
    const worker = await database.db
      .selectFrom('workers')
      .select('assigned_job_id')
      .where('pod_name', '=', name)
      .executeTakeFirstOrThrow();
    expect(worker.assigned_job_id).toBe(isBound ? jobId : null);
  },
);

test('an adopted pod that was made for no job is warm, belongs to the App of today, and is not from the future (C10, E6)', async () => {
  const entity_id = 73;
  await putInstallation(database.db, { entity_id, app_id: 1001, deleted_at: new Date() });
  await putInstallation(database.db, { entity_id, app_id: 1002, installation_id: 32 });
  const podCreatedAt = new Date(Date.now() + 3_600_000);
  const adopted = { ...pod('pdk-warm'), entityId: entity_id, podCreatedAt };
  await database.db.transaction().execute((trx) => adoptWorkers(trx, [adopted]));
  const workers = database.db.selectFrom('workers').selectAll().where('pod_name', '=', 'pdk-warm');
  const worker = await workers.executeTakeFirstOrThrow();
  expect(worker).toMatchObject({ is_warm: true, app_id: 1002, installation_id: 32 });
  expect(Number(worker.created_at)).toBeLessThan(Number(podCreatedAt) - 1_800_000);
});

test('GitHub should list the runners of live, registered workers without a job, and no others (E6)', async () => {
  const at = new Date();
  const registered = { entity_id: 71, registered_at: at } as const;
  const rows = [
    { runner_id: 1 },
    { runner_id: null },
    { runner_id: 3, assigned_at: at },
    { runner_id: 4, registration_gone_at: at },
    { runner_id: 5, registered_at: null },
    { runner_id: 6, status: 'failed', completed_at: at, failure_info: '{}' },
    { runner_id: 7, scope_repo_id: 9 },
    { runner_id: 8, entity_id: 72 },
  ] as const;
  for (const row of rows) await putWorker(database.db, { ...registered, ...row });
  const listable = await findListableRunners(database.db, { entityId: 71, scopeRepoId: 0 });
  expect(new Set(listable)).toEqual(new Set([1, null]));
});

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

const SINCE = new Date();
const LATE = {
  unexplained_until: SINCE,
  deregistration_started_at: SINCE,
  pod_gone_at: SINCE,
};
const BACK: Record<string, (trx: Trx, podName: string) => Promise<unknown>> = {
  'is kept': (trx, podName) => keepWorker(trx, podName, { isAssigned: false }),
  'serves again': (trx, podName) => takeBackWorkers(trx, [podName]),
};

test.each([
  ['is kept', LATE],
  ['serves again', {}],
] as const)(
  'a worker that %s is as if nobody had asked for its stop: another stop begins at the newest runs (E5, P2)',
  async (how, late) => {
    const stopped = {
      stopping_at: SINCE,
      stop_reason: 'surplus',
      stop_held_by: 'its log cannot be read',
      stop_held_since: SINCE,
      runs_read_from: 7,
      ...late,
    };
    const { pod_name: podName } = await putWorker(database.db, { status: 'running', ...stopped });
    const read = await findWorkerToStop(database.db, podName, []);
    await database.db.transaction().execute(async (trx) => BACK[how]?.(trx, podName));
    // An attempt that has not noticed it yet.
    if (read !== undefined) await noteRunsRead(database.db, read, 7);
    const workers = database.db.selectFrom('workers').selectAll().where('pod_name', '=', podName);
    expect(await workers.executeTakeFirstOrThrow()).toMatchObject({
      ...Object.fromEntries(Object.keys(stopped).map((column) => [column, null])),
      assigned_at: null,
    });
  },
);

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
