import { describe, expect, test } from '@jest/globals';
import { saveAppIds } from '@paddock/db/instance';
import { minutesAgo, putJob, putPools, putWorker } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { declareReconcilerGauges } from './reconciler-gauges.ts';
import { useSweeps } from './scenes/sweeps.scene.ts';
import { noteEvents } from './scenes/sweep.scene.ts';
import { createSchedules } from './schedules/take-ticks.ts';
import { sweepSchedules } from '@paddock/queue/sweep-schedules';

const database = useTestDatabase();
const sweeps = useSweeps(database);

const declareGauges = () =>
  declareReconcilerGauges(sweeps.metrics, database.dbOf('reconciler'), sweeps.config, () => []);
/** The App whose log is read. */
const ourApp = () => ({ type: 'app', id: String(sweeps.scene.world.appId) });
/** Tasks that wait, and for how many seconds after they were made. */
const queued = async () => {
  const tasks = await database.db.selectFrom('tasks').selectAll().execute();
  return tasks.map(({ kind, due_at: due, queued_at: from }) => ({
    kind,
    seconds: Math.round((due.getTime() - from.getTime()) / 1000),
  }));
};

describe('the reconciler’s sweeps', () => {
  test('every schedule has its kind, and a tick of all of them ends well', async () => {
    const apps = sweeps.config.github.apps.map(({ appId }) => appId);
    const schedules = sweepSchedules(sweeps.config, apps);
    const kinds = Object.keys(sweeps.kinds).toSorted();
    expect([...new Set(schedules.map(({ task }) => task.kind))].toSorted()).toEqual(kinds);
    const { events } = noteEvents();
    const db = database.dbOf('reconciler');
    const { once } = createSchedules({ db, schedules: () => schedules, events });
    expect(await once()).toBe(schedules.length);
    expect(await sweeps.drain()).toBe(schedules.length);
    const ended = (await sweeps.operations()).map(({ kind, status }) => `${kind} ${status}`);
    expect(ended).toEqual(kinds.map((kind) => `${kind} OK`));
  });

  test('redelivery goes on in the next minute when a minute’s requests are used up (E1)', async () => {
    await sweeps.scene.queueJobs(153);
    await sweeps.put('redeliver', ourApp());
    expect(await sweeps.drain()).toBe(1);
    const [operation] = await sweeps.operations();
    const counts = { attempts: 153, accepted: 150, moreDue: true, listed: true };
    expect(operation?.output).toMatchObject(counts);
    expect(await queued()).toEqual([{ kind: 'redeliver', seconds: 60 }]);
  });

  test('redelivery waits where GitHub asks for it, which is no failure, and ticks meanwhile do not have the log listed (E1)', async () => {
    const kind = 'redeliver';
    await sweeps.scene.failList({ status: 403, headers: { 'retry-after': '120' } });
    for (let tick = 0; tick < 3; tick++) {
      await sweeps.put(kind, ourApp(), { since: new Date(0).toISOString() });
      await sweeps.drain();
    }
    const [task, ...others] = await database.db.selectFrom('tasks').selectAll().execute();
    const failures = [expect.objectContaining({ reason: 'snooze' })];
    expect(task).toMatchObject({ kind, attempt: 0, failures });
    expect(Math.round((Number(task?.due_at) - Date.now()) / 60_000)).toBe(2);
    expect(others).toEqual([]);
    const { calls } = await sweeps.scene.world.github.report();
    expect(calls).toMatchObject({ 'apps/list-webhook-deliveries': 1 });
  });

  test.each([
    ['42', {}, 'App 42 is no longer in the configuration'],
    [undefined, { since: 'yesterday' }, 'is no instant'],
    [undefined, { since: null }, 'is no instant'],
  ])(
    'redelivery of the App %j with %j, which cannot be done, ends as poison',
    async (id = String(sweeps.scene.world.appId), payload, message) => {
      await sweeps.put('redeliver', { type: 'app', id }, payload);
      await sweeps.drain();
      const failure_message = expect.stringContaining(message);
      const failed = { status: 'ERROR', failure_reason: 'poison', failure_message };
      expect(await sweeps.operations()).toMatchObject([failed]);
    },
  );

  test('deliveries lost since an instant are asked for, though a tick was queued before (E1, F5)', async () => {
    // More than are asked for without a person.
    await sweeps.scene.queueJobs(101, {});
    const payload = { since: new Date(Date.now() - 3_600_000).toISOString() };
    await sweeps.put('redeliver', ourApp());
    await sweeps.put('redeliver', ourApp(), payload);
    await sweeps.drain();
    expect((await sweeps.operations()).map(({ output }) => output)).toMatchObject([
      { attempts: 101, missing: 101, accepted: 101, more: false },
    ]);
  });

  test('one delivery is asked for of the App that was named, and of no other (F5)', async () => {
    await sweeps.scene.queueJobs(1, {});
    const { appId, github } = sweeps.scene.world;
    const [delivery] = (await github.truth()).deliveries;
    const subject = { type: 'delivery', id: delivery?.guid ?? '' };
    const askOf = async (named: number) => {
      await sweeps.put('redeliver', subject, { guid: subject.id, appId: named });
      await sweeps.drain();
    };
    await askOf(appId + 1);
    await askOf(appId);
    expect(await sweeps.operations()).toMatchObject([
      { status: 'ERROR', failure_message: expect.stringContaining('no longer in the config') },
      { status: 'OK', output: { appId } },
    ]);
  });

  test('stuck tasks of kinds without an executor are freed, and ended and counted when they crashed too often (E8, D8)', async () => {
    const stuck = (id: string, crashes: number, overMinutes: number) =>
      sql`
      insert into tasks (kind, subject_type, subject_id, status, attempt, max_attempts, crashes, started_at, locked_by, locked_until)
      values ('orphaned', 'test', ${id}, 'running', 1, 5, ${crashes}, now() - interval '1 hour', 'gone',
        now() - ${overMinutes} * interval '1 minute')`.execute(database.db);
    await stuck('again', 0, 1);
    await stuck('over', 3, 1);
    await stuck('alive', 3, -1);
    await sweeps.put('recover-tasks');
    await sweeps.drain();
    const left = database.db.selectFrom('tasks').selectAll().orderBy('subject_id');
    expect(await left.execute()).toMatchObject([
      { subject_id: 'again', status: 'queued', crashes: 1, attempt: 0 },
      { subject_id: 'alive', status: 'running', crashes: 3, attempt: 1 },
    ]);
    const ended = { subject_id: 'over', status: 'ERROR', failure_reason: 'crashes' };
    expect(await sweeps.operations()).toContainEqual(expect.objectContaining(ended));
    const shown = await sweeps.metrics.registry.metrics();
    expect(shown).toContain('paddock_task_processed_total{kind="orphaned",outcome="failed"} 1');
    expect(shown).toContain('paddock_events_total{event="tasksRecovered"} 1');
  });

  test('a full batch of stuck tasks makes the next pass due at once (E8)', async () => {
    await sql`
      insert into tasks (kind, subject_type, subject_id, status, attempt, max_attempts, started_at, locked_by, locked_until)
      select 'orphaned', 'test', n, 'running', 1, 5, now(), 'gone', now() - interval '1 minute' from generate_series(1, 251) n`.execute(
      database.db,
    );
    await sweeps.put('recover-tasks');
    await sweeps.drain();
    const passes = (await sweeps.operations()).map(({ output }) => output);
    expect(passes).toMatchObject([{ requeued: 250 }, { requeued: 1 }]);
  });

  test('a refusal of GitHub causes a comparison of the installations soon (A12)', async () => {
    await putPools(database.db);
    const { organization, appId } = sweeps.scene.world;
    const ids = { entity_id: organization.id, app_id: appId, installation_id: 999 };
    await putJob(database.db, { ...ids, lookup_due_at: new Date(0) });
    await sweeps.put('look-up-jobs');
    await sweeps.drain();
    expect((await sweeps.operations()).map(({ output }) => output)).toEqual([
      expect.objectContaining({ unanswered: 1, hidden: 1 }),
    ]);
    expect(await queued()).toEqual([{ kind: 'check-apps', seconds: 600 }]);
  });
});

describe('the rows that the reconciler’s sweeps remove', () => {
  test('expired operations are purged, and the counts stay (D9)', async () => {
    await sweeps.put('redeliver', { type: 'app', id: '42' });
    await sweeps.drain();
    const counts = () => database.db.selectFrom('task_counts').selectAll().execute();
    const before = await counts();
    await sql`update operations set expires_at = now() - interval '1 second'`.execute(database.db);
    await sweeps.put('upkeep');
    await sweeps.drain();
    expect(await sweeps.operations()).toMatchObject([{ output: { operations: { removed: 1 } } }]);
    expect(await counts()).toEqual(expect.arrayContaining(before));
  });

  test('a part of upkeep that fails stops no other, and the pass says which failed and why', async () => {
    const { db } = database;
    const old = { since: minutesAgo(4_320), until: minutesAgo(2_880) };
    const change = { demand_key: 1, reason: 'at_pool_cap', ...old };
    await db.insertInto('wait_reason_changes').values(change).execute();
    await sql`alter table usage_hours rename to mislaid`.execute(db);
    await sweeps.put('upkeep');
    await sweeps.drain();
    await sql`alter table mislaid rename to usage_hours`.execute(db);
    const [task] = await db.selectFrom('tasks').select('failures').execute();
    expect(task?.failures).toEqual([
      expect.objectContaining({ message: 'usage: relation "usage_hours" does not exist' }),
    ]);
    const left = await db.selectFrom('wait_reason_changes').select('demand_key').execute();
    expect(left).not.toContainEqual({ demand_key: 1 });
  });
});

/** A pool's runner version that ends in so many days. */
const end = (k8s_pool: string, days: number | null) => {
  const ends_at = days === null ? null : new Date(Date.now() + days * 86_400_000);
  return { k8s_pool, version: '2.335.1', pod_name: 'pdk', ends_at };
};

test('gauges of the sweeps’ objects are read from the rows, so all replicas agree (H4, H5)', async () => {
  const { db } = database;
  await sql`truncate unresolved_deliveries`.execute(db);
  for (const attempts of [3, 2]) await putJob(db, { recovery_attempts: attempts });
  await putJob(db, { status: 'completed', wants_worker: false, misjudged: true });
  const stop = { stopping_at: minutesAgo(10), stop_held_by: 'GitHub' };
  for (const minutes of [120, 0])
    await putWorker(db, { ...stop, status: 'running', stop_held_since: minutesAgo(minutes) });
  await sql`insert into unresolved_deliveries (app_id, guid, delivery_id, event, first_failed_at, last_failed_at, last_status_code)
    values (7, 'guid', 1, 'workflow_job', now() - interval '10 minutes', now(), 500),
      (8, 'guid', 1, 'workflow_job', now() - interval '1 hour', now(), 500)`.execute(db);
  // The App 8 is no longer in the configuration.
  await saveAppIds(db, [7]);
  const { github, appId } = sweeps.scene.world;
  await github.setApp(appId, { events: [] });
  await sweeps.put('check-apps');
  await sweeps.drain();
  const pools = ['a', 'b', 'c'].map((name) => ({ name, labels: [name] }));
  await putPools(db, { pools });
  const versions = [end('a', 12.1), end('b', null), end('c', -6.9), end('gone', 5)];
  await db.insertInto('pool_runner_versions').values(versions).execute();
  for (const [subject_id, minutes] of [['linux', 30] as const, ['gpu', 10] as const])
    await db
      .insertInto('switches')
      .values({ subject_type: 'pool', subject_id, switched_by: 'ada', since: minutesAgo(minutes) })
      .execute();
  declareGauges();
  const shown = await waitFor('the gauges', async () => {
    const page = await sweeps.metrics.registry.metrics();
    return page.includes('\npaddock_jobs_stuck') && page;
  });
  for (const line of ['jobs_stuck 1', 'jobs_misjudged 1', 'worker_stops_held_up 1'])
    expect(shown).toContain(`\npaddock_${line}\n`);
  expect(shown).toMatch(/\npaddock_redelivery_oldest_unresolved_seconds 60\d/);
  // What the App lacks, from the newest check's operation (H4).
  expect(shown).toMatch(new RegExp(`\npaddock_app_problems{app="${appId}"} [1-9]`));
  expect(shown).toMatch(/\npaddock_oldest_switch_seconds{kind="pool"} 180\d/);
  const left = shown.matchAll(/\npaddock_runner_version_days_left{pool="(.+?)",.+} (.+)/g);
  expect(Array.from(left, ([, pool, days]) => [pool, Math.round(Number(days))])).toEqual([
    ['a', 12],
    ['c', -7],
  ]);
});
