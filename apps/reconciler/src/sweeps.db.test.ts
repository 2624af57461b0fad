import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectGitHub } from '@paddock/github/connect';
import type { Cluster } from '@paddock/kube/connect';
import { runDueTasks } from '@paddock/queue/drain';
import { enqueue } from '@paddock/queue/enqueue';
import { executorEvents } from '@paddock/queue/executor-events';
import { createLogger } from '@paddock/runtime/logger';
import { createMetrics, type Metrics } from '@paddock/runtime/metrics';
import { createTestDatabase, type TestDatabase } from '@paddock/testing/database';
import { examplePools, putJob, putPools } from '@paddock/testing/demand-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createWaits } from '@paddock/db/breakers/waits';
import { sql } from 'kysely';
import { type ReconcilerConfig, readReconcilerConfig } from './config.ts';
import { createEvents } from './events.ts';
import { type RedeliveryScene, startRedeliveryScene } from './scenes/redelivery.scene.ts';
import { declareReconcilerGauges } from './reconciler-gauges.ts';
import { createSchedules } from './schedules/schedules.ts';
import { sweepSchedules } from './schedules/sweep-schedules.ts';
import { sweepKinds } from './sweeps.ts';

let database: TestDatabase;
let scene: RedeliveryScene;
let config: ReconcilerConfig;
let kinds: ReturnType<typeof sweepKinds>;
let metrics: Metrics;

/** No sweep of these tests finds a pod to ask for. */
const noCluster: Cluster = {
  server: 'http://127.0.0.1:1',
  requestTimeoutMs: 1,
  send: () => Promise.reject(new Error('there is no cluster in this test')),
  close: () => undefined,
};

/** What executors log is not looked at here. */
const quiet = { error: () => undefined, warn: () => undefined, info: () => undefined, debug: () => undefined };

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  for (const table of ['tasks', 'operations', 'task_counts', 'schedules', 'workers', 'jobs'] as const)
    await database.db.deleteFrom(table).execute();
  scene = await startRedeliveryScene(database, { losesRows: true });
  const { appId, privateKeyPem, github: simulator } = scene.world;
  config = readConfig(simulator.url, appId, privateKeyPem);
  const apps = [{ appId, privateKey: privateKeyPem }];
  const db = database.dbOf('reconciler');
  const github = connectGitHub({ apiUrl: simulator.url, apps, waits: createWaits(db, () => undefined), requestTimeoutMs: 60_000 });
  metrics = createMetrics();
  const log = createLogger('test', 'error');
  const events = createEvents(log, metrics);
  kinds = sweepKinds({ db, github, cluster: noCluster, config, events, taskEvents: executorEvents(metrics, quiet) });
});
afterEach(() => scene.stop());

function readConfig(apiUrl: string, id: number, key: string): ReconcilerConfig {
  const folder = mkdtempSync(join(tmpdir(), 'paddock-sweeps-'));
  const path = join(folder, 'paddock.yaml');
  writeFileSync(path, JSON.stringify({ github: { apiUrl, apps: [{ id, privateKey: { env: 'KEY' } }] }, pools: [], entities: {} }));
  try {
    return readReconcilerConfig({ DATABASE_URL: database.url, PADDOCK_CONFIG: path, KEY: key });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const drain = () => runDueTasks({ db: database.dbOf('reconciler'), kinds });
const put = (kind: string, subject: { type: string; id: string }) =>
  database.db.transaction().execute((trx) => enqueue(trx, [{ kind, subject }]));
const operations = () => database.db.selectFrom('operations').selectAll().orderBy('kind').orderBy('finished_at').execute();

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);

/** What runs only when somebody asks for it. */
const ASKED_FOR = new Set(['redeliver-since', 'resync-repository']);

describe('the reconciler’s sweeps', () => {
  test('every schedule has its kind, and a tick of all of them ends well', async () => {
    const schedules = sweepSchedules(config);
    const scheduled = Object.keys(kinds).filter((kind) => !ASKED_FOR.has(kind));
    expect([...new Set(schedules.map(({ task }) => task.kind))].toSorted()).toEqual(scheduled.toSorted());
    const events = { tickTaken: () => undefined, scheduleFailed: () => undefined };
    expect(await createSchedules({ db: database.dbOf('reconciler'), schedules, holder: 'test', events }).once()).toBe(schedules.length);
    expect(await drain()).toBe(schedules.length);
    expect((await operations()).map(({ kind, status }) => `${kind} ${status}`)).toEqual(scheduled.toSorted().map((kind) => `${kind} OK`));
  });

  test('redelivery goes on in the next minute when a minute’s requests are used up (E1)', async () => {
    await scene.queueJobs(153);
    await put('redeliver', { type: 'app', id: String(scene.world.appId) });
    expect(await drain()).toBe(1);
    const [operation] = await operations();
    expect(operation?.output).toMatchObject({ attempts: 153, accepted: 150, moreDue: true, listed: true });
    const { rows } = await sql<{ kind: string; seconds: number }>`
      select kind, round(extract(epoch from due_at - queued_at))::integer as seconds from tasks`.execute(database.db);
    expect(rows).toEqual([{ kind: 'redeliver', seconds: 60 }]);
  });

  test.each(['redeliver', 'redeliver-since'])(
    '%s waits where GitHub asks for it, which is no failure, and ticks meanwhile do not have the log listed (E1)',
    async (kind) => {
      const task = { kind, subject: { type: 'app', id: String(scene.world.appId) }, payload: { since: new Date(0).toISOString() } };
      await scene.world.github.failNext({
        method: 'GET',
        path: '/app/hook/deliveries$',
        status: 403,
        headers: { 'retry-after': '120' },
      });
      for (let tick = 0; tick < 3; tick++) {
        await database.db.transaction().execute((trx) => enqueue(trx, [task]));
        await drain();
      }
      const { rows } = await sql`select kind, attempt, failures, round(extract(epoch from due_at - now()) / 60)::integer as minutes
        from tasks`.execute(database.db);
      expect(rows).toEqual([{ kind, attempt: 0, failures: [expect.objectContaining({ reason: 'snooze' })], minutes: 2 }]);
      expect((await scene.world.github.report()).calls).toMatchObject({ 'apps/list-webhook-deliveries': 1 });
    },
  );

  test('what an App lacks is a gauge, read from the newest pass’s operation by every replica (H4, H5)', async () => {
    const { github, appId } = scene.world;
    await github.setApp(appId, { events: [] });
    await put('check-apps', { type: 'schedule', id: 'check-apps' });
    await drain();
    const [operation] = await operations();
    const problems = (operation?.output as { problems?: string[] } | undefined)?.problems ?? [];
    expect(problems.length).toBeGreaterThan(0);
    declareReconcilerGauges(metrics, database.dbOf('reconciler'), { ...config, schedules: [] });
    const gauge = `\npaddock_app_problems{app="${appId}"} ${problems.length}\n`;
    await waitFor('the gauge', async () => (await metrics.registry.metrics()).includes(gauge));
  });

  test.each(['redeliver', 'redeliver-since'])('a task %s of an App that is not configured here ends as poison', async (kind) => {
    await put(kind, { type: 'app', id: '42' });
    await drain();
    expect(await operations()).toEqual([expect.objectContaining({ status: 'ERROR', failure_reason: 'poison' })]);
  });

  test('what was lost since an instant is asked for by the cycle that follows (E1, F5)', async () => {
    await scene.queueJobs(2, {});
    const payload = { since: new Date(Date.now() - 3_600_000).toISOString() };
    const subject = { type: 'app', id: String(scene.world.appId) };
    await database.db.transaction().execute((trx) => enqueue(trx, [{ kind: 'redeliver-since', subject, payload }]));
    await drain();
    const outputs = (await operations()).map(({ kind, output }) => ({ kind, output }));
    expect(outputs).toEqual([
      { kind: 'redeliver', output: expect.objectContaining({ accepted: 2 }) },
      { kind: 'redeliver-since', output: { pages: 1, attempts: 2, missing: 2, more: false } },
    ]);
  });

  test('many deliveries that our events lack have a redeliver-since enqueued, once the pods of then are adopted (E1, E6)', async () => {
    const subject = { type: 'app', id: String(scene.world.appId) };
    await sql`insert into delivery_listings (app_id, newest_at, oldest_at)
      values (${scene.world.appId}, now() - interval '1 hour', now() - interval '1 hour')`.execute(database.db);
    await scene.queueJobs(150, {});
    await put('redeliver', subject);
    await drain();
    const { rows } = await sql<{ kind: string; minutes: number; origin: string }>`
      select kind, origin, round(extract(epoch from due_at - queued_at) / 60)::integer as minutes from tasks`.execute(database.db);
    expect(rows).toEqual([{ kind: 'redeliver-since', minutes: 10, origin: 'AUTOMATIC' }]);
    await database.db
      .updateTable('tasks')
      .set({ due_at: new Date(0) })
      .execute();
    await drain();
    expect((await operations()).map(({ kind, output }) => ({ kind, output }))).toEqual([
      { kind: 'redeliver', output: expect.objectContaining({ missing: 150, accepted: 0 }) },
      { kind: 'redeliver', output: expect.objectContaining({ accepted: 150 }) },
      { kind: 'redeliver-since', output: expect.objectContaining({ missing: 150, more: false }) },
    ]);
  });

  test('stuck tasks of kinds that nobody runs are freed, and ended and counted when they crashed too often (E8, D8)', async () => {
    const stuck = (id: string, crashes: number, lockedMinutes: number) =>
      sql`
      insert into tasks (kind, subject_type, subject_id, status, attempt, max_attempts, crashes, max_crashes, started_at, locked_by, locked_at)
      values ('orphaned', 'test', ${id}, 'running', 1, 5, ${crashes}, 3, now() - interval '1 hour', 'gone',
        now() - ${lockedMinutes} * interval '1 minute')`.execute(database.db);
    await stuck('again', 0, 6);
    await stuck('over', 3, 6);
    await stuck('alive', 3, 4);
    await put('recover-tasks', { type: 'schedule', id: 'recover-tasks' });
    await drain();
    const left = await database.db
      .selectFrom('tasks')
      .select(['subject_id', 'status', 'crashes', 'attempt'])
      .orderBy('subject_id')
      .execute();
    expect(left).toEqual([
      { subject_id: 'again', status: 'queued', crashes: 1, attempt: 0 },
      { subject_id: 'alive', status: 'running', crashes: 3, attempt: 1 },
    ]);
    const ended = (await operations()).filter(({ kind }) => kind === 'orphaned');
    expect(ended).toEqual([expect.objectContaining({ subject_id: 'over', status: 'ERROR', failure_reason: 'crashes' })]);
    const shown = await metrics.registry.metrics();
    expect(shown).toContain('paddock_task_processed_total{kind="orphaned",outcome="failed"} 1');
    expect(shown).toContain('paddock_recovery_total{kind="task"} 2');
  });

  test('what GitHub hides from us has the installations compared soon (A12)', async () => {
    await putPools(database.db, examplePools());
    const { organization, appId } = scene.world;
    await putJob(database.db, { entity_id: organization.id, app_id: appId, installation_id: 999, lookup_due_at: new Date(0) });
    await put('look-up-jobs', { type: 'schedule', id: 'look-up-jobs' });
    await drain();
    expect((await operations()).map(({ output }) => output)).toEqual([expect.objectContaining({ unanswered: 1, hidden: 1 })]);
    const { rows } = await sql<{ kind: string; minutes: number }>`
      select kind, round(extract(epoch from due_at - queued_at) / 60)::integer as minutes from tasks`.execute(database.db);
    expect(rows).toEqual([{ kind: 'check-apps', minutes: 10 }]);
  });

  test('by default events and ended jobs go after 90 days and pods after 6 hours; workers never, and whole (E7)', async () => {
    for (const days of [91, 89]) {
      for (const event of ['workflow_job.queued', 'ping', 'push', 'installation.created', 'auth_attempt.404']) {
        const row = {
          source: event.startsWith('auth_attempt') ? 'scheduler' : 'webhook',
          event,
          outcome: 'ok',
          payload: '{}',
          received_at: daysAgo(days),
        } as const;
        await database.db.insertInto('installation_events').values(row).execute();
      }
    }
    for (const days of [89, 91]) {
      const ended = { status: 'completed', wants_worker: false, created_at: daysAgo(days), updated_at: daysAgo(days) } as const;
      await putJob(database.db, { run_id: days, job_id: days, ...ended });
    }
    const failure = JSON.stringify({ version: 1, message: 'the image cannot be pulled' });
    const failed = { status: 'failed', failure_info: failure, pod_uid: 'a-uid' } as const;
    await putWorker(database.db, { pod_name: 'pdk-old', ...failed, completed_at: daysAgo(4_000), pod_deleted_at: daysAgo(4_000) });
    await putWorker(database.db, { pod_name: 'pdk-5-hours', ...failed, completed_at: minutesAgo(300) });
    await putWorker(database.db, { pod_name: 'pdk-7-hours', ...failed, completed_at: minutesAgo(420) });
    const before = await database.db.selectFrom('workers').selectAll().orderBy('pod_name').execute();
    for (const kind of ['retire-rows', 'delete-ended-pods']) await put(kind, { type: 'schedule', id: kind });
    await drain();
    const outputs = (await operations()).map(({ kind, output }) => [kind, output]);
    // The cluster of these tests answers no call: one pod was to be looked at.
    expect(outputs).toEqual([
      ['delete-ended-pods', expect.objectContaining({ deleted: 0, failed: 1 })],
      ['retire-rows', { events: 3, jobs: 1 }],
    ]);
    expect(await database.db.selectFrom('workers').selectAll().orderBy('pod_name').execute()).toEqual(before);
  });

  test('expired operations are purged, however often, and the counts stay (D9)', async () => {
    await put('redeliver', { type: 'app', id: '42' });
    await drain();
    const counts = () => database.db.selectFrom('task_counts').select(['kind', 'outcome']).where('kind', '=', 'redeliver').execute();
    const before = await counts();
    await sql`update operations set expires_at = now() - interval '1 second'`.execute(database.db);
    for (let time = 0; time < 2; time++) {
      await put('purge-operations', { type: 'schedule', id: 'purge-operations' });
      await drain();
    }
    expect((await operations()).map(({ kind, output }) => [kind, output])).toEqual([
      ['purge-operations', { purged: 1 }],
      ['purge-operations', { purged: 0 }],
    ]);
    expect(await counts()).toEqual(before);
  });

  test('a dry run of those that only write counts the same and writes nothing', async () => {
    const { db } = database;
    await sql`
      insert into tasks (kind, subject_type, subject_id, status, attempt, max_attempts, crashes, max_crashes, started_at, locked_by, locked_at)
      values ('orphaned', 'test', 'again', 'running', 1, 5, 0, 3, now(), 'gone', now() - interval '6 minutes')`.execute(db);
    await sql`
      insert into task_counts (hour, kind, outcome, ended) select date_trunc('hour', now() - interval '3 hours', 'UTC'), 'a', 'OK', 1 from generate_series(1, 4)`.execute(
      db,
    );
    await put('redeliver', { type: 'app', id: '42' });
    await drain();
    await sql`update operations set expires_at = now() - interval '1 second'`.execute(db);
    const outputs = async (payload: object) => {
      for (const kind of ['recover-tasks', 'purge-operations', 'roll-up-counts']) {
        await db.transaction().execute((trx) => enqueue(trx, [{ kind, subject: { type: 'schedule', id: kind }, payload }]));
      }
      await drain();
      const rows = await db.selectFrom('operations').select(['kind', 'output']).where('kind', '<>', 'redeliver').orderBy('kind').execute();
      await db.deleteFrom('operations').where('kind', '<>', 'redeliver').execute();
      return rows.map(({ output }) => output);
    };
    const counted = [{ purged: 1 }, { found: 1, requeued: 1, ended: 0 }, { merged: 4, removed: 0 }];
    const dry = counted.map((output) => ({ dryRun: true, ...output }));
    expect(await outputs({ dryRun: true })).toEqual(dry);
    expect(await outputs({ dryRun: true })).toEqual(dry);
    expect(await metrics.registry.metrics()).not.toContain('paddock_recovery_total{kind="task"}');
    expect(await outputs({})).toEqual(counted);
  });
});
