import { sql } from 'kysely';
import { USUAL_FAILURE_RULES } from '@paddock/domain/matching/failure-classes';
import { noteKeyFailure, noteKeySuccess } from '../workers/failing-keys.ts';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { minutesAgo, putInstallation, putJob, putWorker } from '@paddock/testing/demand-rows';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { connectDatabase } from '../connection/connect.ts';
import {
  queueEventChannel,
  sweepEventChannel,
  taskEventChannel,
} from '../connection/schema-name.ts';
import { migrate } from '../migrate.ts';
import { wantExtraPasses } from '../schedules/schedules.ts';

let listener: pg.Client;
let heard: string[];
// Before the end of its database.
afterAll(() => listener.end());
const database = useTestDatabase();

beforeAll(async () => {
  listener = new pg.Client({ connectionString: database.url });
  await listener.connect();
  listener.on('notification', ({ channel, payload }) => heard.push(`${channel} ${payload ?? ''}`));
  for (const channel of [queueEventChannel, taskEventChannel].map((of) => of(database.schema)))
    await listener.query(`listen ${channel}`);
  await listener.query('listen fence');
});
beforeEach(() => {
  heard = [];
});

/**
 * The notifications so far: PostgreSQL delivers in the order of commits, so all that were sent
 * before the fence have arrived with it.
 */
async function notified(): Promise<string[]> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const onFence = ({ channel }: pg.Notification) => void (channel === 'fence' && resolve());
  listener.on('notification', onFence);
  await listener.query('notify fence');
  await promise;
  listener.off('notification', onFence);
  return heard.filter((message) => !message.startsWith('fence'));
}

const JOBS = 'paddock_queue_event jobs';
const WORKERS = 'paddock_queue_event workers';

test('a job whose demand comes, moves or goes notifies, and any other change does not (A7)', async () => {
  const { job_id: id } = await putJob(database.db);
  await notified();
  heard = [];
  const change = (set: { wants_worker?: boolean; runner_name?: string; k8s_pool?: string }) =>
    database.db.updateTable('jobs').set(set).where('job_id', '=', id).execute();
  await change({ runner_name: 'another' });
  expect(await notified()).toEqual([]);
  await change({ k8s_pool: 'gpu' });
  await change({ wants_worker: false });
  expect(await notified()).toEqual([JOBS, JOBS]);
});

const COMMON =
  'entity_id, entity_name, entity_type, app_id, installation_id, scope_repo_id, job_labels, k8s_pool, k8s_image, pools_version';

test.each([
  [
    'jobs',
    'job_id',
    `repo_id, repo_full_name, run_id, run_attempt, job_name, wants_worker, ${COMMON}`,
  ],
  ['workers', 'pod_name', `namespace, ${COMMON}`],
] as const)(
  'a statement that changes 20 000 %s comes to its end in time (A7, P6)',
  async (table, key, others) => {
    await (table === 'jobs' ? putJob(database.db) : putWorker(database.db));
    const undone = new Error('undone');
    const changing = database.db.transaction().execute(async (trx) => {
      const next = sql.raw(table === 'jobs' ? '1000000 + n' : "'pdk-many-' || n");
      await sql`
        insert into ${sql.table(table)} (${sql.raw(key)}, ${sql.raw(others)})
        select ${next}, ${sql.raw(others)} from (select * from ${sql.table(table)} limit 1) one, generate_series(1, 20000) n`.execute(
        trx,
      );
      // Long enough for any machine; with a comparison of each row with all others it takes minutes.
      await sql`set local statement_timeout = '30s'`.execute(trx);
      const { numAffectedRows } =
        await sql`update ${sql.table(table)} set k8s_image = 'another'`.execute(trx);
      expect(numAffectedRows).toBeGreaterThan(20_000n);
      throw undone;
    });
    await expect(changing).rejects.toBe(undone);
  },
);

test('a change in one environment wakes no service of another in the same database (A8)', async () => {
  const schema = 'staging';
  await migrate({ url: database.url, schema });
  const channels = [queueEventChannel, taskEventChannel, sweepEventChannel];
  for (const channelOf of channels)
    for (const each of [schema, database.schema]) await listener.query(`listen ${channelOf(each)}`);
  await notified();
  heard = [];
  const { db, close } = connectDatabase({
    url: database.url,
    schema,
    poolSize: 1,
    applicationName: 'paddock-test',
  });
  await putJob(db);
  const { pod_name: name } = await putWorker(db);
  await db
    .updateTable('workers')
    .set({ status: 'completed', completed_at: minutesAgo(0) })
    .where('pod_name', '=', name)
    .execute();
  const task = { kind: 'remove-secret', subject_type: 'worker', max_attempts: 5 };
  await db
    .insertInto('tasks')
    .values({ ...task, subject_id: 'due', status: 'queued', due_at: minutesAgo(0) })
    .execute();
  await noteKeyFailure(db, { podName: name, failureClass: 'x', message: '' }, USUAL_FAILURE_RULES);
  await sql`update demand_keys set failures = 0, failure_class = null`.execute(db);
  await db
    .insertInto('schedules')
    .values({ name: 'retire-rows', last_tick_at: minutesAgo(1) })
    .execute();
  await wantExtraPasses(db, { schedule: 'retire-rows' });
  await close();
  // The notifications of one commit come in any order.
  expect((await notified()).toSorted()).toEqual([
    'staging_queue_event demand_keys',
    'staging_queue_event jobs',
    'staging_queue_event workers',
    'staging_sweep_event retire-rows',
    'staging_task_event remove-secret',
  ]);
});

describe('notifications of freed capacity (A7)', () => {
  test('a node for a worker and its end notify once; its other changes do not (C4)', async () => {
    const { pod_name: name } = await putWorker(database.db, { unschedulable_at: minutesAgo(2) });
    const of = () => database.db.updateTable('workers').where('pod_name', '=', name);
    await of().set({ unschedulable_at: null }).execute();
    expect(await notified()).toEqual([WORKERS]);
    heard = [];
    await of()
      .set({ unschedulable_at: minutesAgo(1), status: 'running', running_at: minutesAgo(1) })
      .execute();
    expect(await notified()).toEqual([]);
    await of()
      .set({ status: 'completed', completed_at: minutesAgo(0) })
      .execute();
    expect(await notified()).toEqual([WORKERS]);
    heard = [];
    await of()
      .set({ pod_deleted_at: minutesAgo(0) })
      .execute();
    expect(await notified()).toEqual([]);
  });

  test('a key that is paused notifies, and one that is free again; a failure that only counts does not (C11)', async () => {
    const { pod_name: podName } = await putWorker(database.db);
    const fail = () =>
      noteKeyFailure(
        database.db,
        { podName, failureClass: 'pod_refused', message: 'quota' },
        USUAL_FAILURE_RULES,
      );
    await fail();
    await fail();
    expect(await notified()).toEqual([]);
    await fail();
    expect(await notified()).toEqual(['paddock_queue_event demand_keys']);
    heard = [];
    await noteKeySuccess(database.db, podName, 'pod_created');
    expect(await notified()).toEqual(['paddock_queue_event demand_keys']);
  });

  test('news of an installation notify, a new one too; what we note of it does not (P5)', async () => {
    const key = { entity_id: 1, app_id: 1001 };
    await putInstallation(database.db, key);
    expect(await notified()).toContain('paddock_queue_event installations');
    for (const [set, wakes] of [
      [{ listed_at: new Date() }, false],
      [{ wait_until: new Date() }, false],
      [{ suspended_at: new Date(), updated_at: new Date() }, true],
      [{ suspended_at: null, updated_at: new Date() }, true],
    ] as const) {
      heard = [];
      await database.db
        .updateTable('installations')
        .set(set)
        .where('entity_id', '=', key.entity_id)
        .execute();
      expect((await notified()).includes('paddock_queue_event installations')).toBe(wakes);
    }
  });
});

test('every update of a job or a worker moves updated_at and raises revision (A2)', async () => {
  const rows = [await putJob(database.db), await putWorker(database.db)];
  for (const [nth, table] of (['jobs', 'workers'] as const).entries()) {
    const { rows: after } = await sql<{ revision: number; isLater: boolean }>`
      update ${sql.table(table)} set updated_at = 'epoch', revision = 0 where revision = 0
      returning revision, updated_at >= created_at as "isLater"`.execute(database.db);
    expect([rows[nth]?.revision, after.at(-1)]).toEqual([0, { revision: 1, isLater: true }]);
  }
});
