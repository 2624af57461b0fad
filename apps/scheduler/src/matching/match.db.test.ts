import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { clientConfig } from '@paddock/db/connection/connect';
import { createMetrics } from '@paddock/runtime/metrics';
import { resumeMaking, stopMaking } from '@paddock/db/matching/stopped-making';
import { createTestDatabase, type TestDatabase } from '@paddock/testing/database';
import { examplePools, putJob, putPools } from '@paddock/testing/demand-rows';
import { fc } from '@paddock/testing/random-cases';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { createEvents } from '../events.ts';
import { matchOnce } from './match.ts';
import { runMatching } from './match-loop.ts';
import { countsOf, GATE, SILENT } from '../scenes/scheduler.scene.ts';

let testDb: TestDatabase;
beforeAll(async () => {
  testDb = await createTestDatabase();
});
afterAll(() => testDb.drop());
beforeEach(() => clear());

async function clear(): Promise<void> {
  for (const table of ['tasks', 'jobs', 'workers', 'demand_keys', 'pools_documents', 'stopped_making'] as const)
    await testDb.db.deleteFrom(table).execute();
  await putPools(testDb.db, examplePools());
}

const tasks = () =>
  testDb.db.selectFrom('tasks').select(['kind', 'subject_id', 'delivery_guid']).orderBy('subject_id').orderBy('kind').execute();
const match = async () => countsOf(await matchOnce(testDb.db, GATE));
const workers = () => testDb.db.selectFrom('workers').selectAll().orderBy('pod_name').execute();

describe('matchOnce', () => {
  test('enqueues one provisioning per reserved worker, in the same transaction, with the delivery it goes back to (C6, D14)', async () => {
    await putJob(testDb.db, { delivery_guid: 'guid-1' });
    await putJob(testDb.db);
    expect(await match()).toMatchObject({ reserved: 2, ended: 0, retired: 0, lacking: 0 });
    const made = await workers();
    expect(await tasks()).toEqual(
      made.map((worker) => ({ kind: 'provision-worker', subject_id: worker.pod_name, delivery_guid: worker.delivery_guid })),
    );
  });

  test('enqueues the end of each retired worker, and the making of one that is wanted again before it had a pod (C3, D14)', async () => {
    const at = minutesAgo(5);
    const { pod_name: name } = await putWorker(testDb.db, { registration_started_at: at, registered_at: at });
    expect((await match()).retired).toBe(1);
    expect(await tasks()).toEqual([{ kind: 'stop-worker', subject_id: name, delivery_guid: null }]);
    await putJob(testDb.db);
    expect(await match()).toMatchObject({ reserved: 0, takenBack: 1 });
    expect((await tasks()).map(({ kind }) => kind)).toEqual(['provision-worker', 'stop-worker']);
  });

  test('keeps nothing when the enqueuing fails: no worker without its task (D14)', async () => {
    await putJob(testDb.db);
    await sql`alter table tasks add constraint refuse check (kind <> 'provision-worker')`.execute(testDb.db);
    await expect(match()).rejects.toThrow('refuse');
    await sql`alter table tasks drop constraint refuse`.execute(testDb.db);
    expect(await workers()).toEqual([]);
    expect((await match()).reserved).toBe(1);
  });

  test('eight matchers beside each other and beside arriving jobs make one worker per job (C5, P3)', async () => {
    await Promise.all(Array.from({ length: 4 }, arrive));
    expect(await workers()).toHaveLength(40);
    expect(await tasks()).toHaveLength(40);
  });

  test('does not wait for ever behind a matcher that hangs (C1)', async () => {
    await putJob(testDb.db);
    const limits = { lockTimeoutMs: 50, statementTimeoutMs: 15_000, idleTimeoutMs: 8_000 };
    await testDb.db.transaction().execute(async (hanging) => {
      await sql`select pg_advisory_xact_lock((select oid from pg_namespace where nspname = current_schema())::int, 1)`.execute(hanging);
      await expect(matchOnce(testDb.db, GATE, limits)).rejects.toMatchObject({ code: '55P03' });
    });
    expect((await match()).reserved).toBe(1);
  });

  test('says the same as the reference rule while every job runs on the worker made for it (C3)', async () => {
    const steps = fc.array(fc.tuple(fc.constantFrom('arrive', 'start', 'finish', 'lose', 'match'), fc.nat(5)), {
      minLength: 1,
      maxLength: 25,
    });
    await fc.assert(
      fc.asyncProperty(steps, async (list) => {
        await clear();
        for (const [step, which] of list) await take(step, which);
        const before = await referenceLack();
        const { reserved } = await match();
        expect(reserved).toBe(before);
        expect(await referenceLack()).toBe(0);
      }),
      { numRuns: 40 },
    );
  });
});

/** Jobs that come one after the other, each followed by a pass. */
async function arrive(): Promise<void> {
  for (let n = 0; n < 10; n += 1) {
    await putJob(testDb.db);
    await match();
  }
}

/** Jobs pending or running less workers pending or running, per account and labels: the reference rule. */
async function referenceLack(): Promise<number> {
  const { rows } = await sql<{ lack: number }>`
    select coalesce(sum(greatest(coalesce(j.n, 0) - coalesce(w.n, 0), 0)), 0)::integer as lack
    from (select entity_id, job_labels, count(*) n from jobs where status in ('pending', 'running') group by 1, 2) j
    left join (select entity_id, job_labels, count(*) n from workers where status in ('pending', 'running') group by 1, 2) w
      using (entity_id, job_labels)`.execute(testDb.db);
  return rows[0]?.lack ?? 0;
}

/** One thing that happens; jobs run on the worker that was made for them. */
async function take(step: string, which: number): Promise<void> {
  const { db } = testDb;
  const alive = await db
    .selectFrom('workers')
    .selectAll()
    .where('status', 'in', ['pending', 'running'])
    .orderBy('created_at')
    .orderBy('pod_name')
    .execute();
  const worker = alive[which % Math.max(alive.length, 1)];
  const job = worker?.made_for_job_id ?? 0;
  const end = { completed_at: new Date() };
  switch (step) {
    case 'arrive':
      await putJob(db, which % 2 === 0 ? {} : { entity_id: 90_000_002, entity_name: 'other' });
      return;
    case 'start':
      if (worker === undefined || worker.assigned_at !== null) return;
      await db.updateTable('jobs').set({ status: 'running', wants_worker: false }).where('job_id', '=', job).execute();
      await db
        .updateTable('workers')
        .set({ status: 'running', assigned_at: new Date(), assigned_job_id: job })
        .where('pod_name', '=', worker.pod_name)
        .execute();
      return;
    case 'finish':
      if (worker === undefined || worker.assigned_at === null) return;
      await db.updateTable('jobs').set({ status: 'completed', completed_at: new Date() }).where('job_id', '=', job).execute();
      await db
        .updateTable('workers')
        .set({ status: 'completed', ...end })
        .where('pod_name', '=', worker.pod_name)
        .execute();
      return;
    case 'lose':
      if (worker === undefined || worker.assigned_at !== null) return;
      await db
        .updateTable('workers')
        .set({ status: 'failed', ...end })
        .where('pod_name', '=', worker.pod_name)
        .execute();
      return;
    default:
      await match();
  }
}

function start(tickMs: number): () => Promise<void> {
  const stop = new AbortController();
  const config = clientConfig({ url: testDb.url, schema: testDb.schema, applicationName: 'paddock-test' });
  const events = createEvents(SILENT, createMetrics());
  const ended = runMatching(
    { db: testDb.db, config, schema: testDb.schema, tickMs, forgottenAfterMs: 60_000, settings: GATE, events, onProbed: () => undefined },
    stop.signal,
  );
  return async () => {
    stop.abort();
    await ended;
  };
}

const listening = () =>
  waitFor('the listener', async () => {
    const { rows } = await sql`select from pg_stat_activity where query like 'listen %' and datname = current_database()`.execute(
      testDb.db,
    );
    return rows.length > 0;
  });

describe('runMatching', () => {
  test('makes a worker at once for a job that is announced, long before the tick (A7, C1)', async () => {
    const stop = start(600_000);
    await listening();
    await putJob(testDb.db);
    const made = await waitFor('the worker', async () => (await workers())[0]);
    expect(made.status).toBe('pending');
    await stop();
  });

  test('heeds a stop, and makes the worker at once when it ends, long before the tick (A7, C12)', async () => {
    const everything = { type: 'environment' } as const;
    await stopMaking(testDb.db, everything, 'ada');
    const stop = start(600_000);
    await listening();
    await putJob(testDb.db);
    await waitFor('the reason', async () => {
      const key = await testDb.db.selectFrom('demand_keys').select('wait_reason').executeTakeFirst();
      return key?.wait_reason === 'making_stopped';
    });
    await resumeMaking(testDb.db, everything);
    const made = await waitFor('the worker', async () => (await workers())[0]);
    expect(made.status).toBe('pending');
    await stop();
  });

  test('makes the worker when a pause is over that GitHub asked for, long before the tick (C1, C11)', async () => {
    const { installation_id } = await putJob(testDb.db);
    const inAnHour = sql<Date>`now() + interval '1 hour'`;
    const budget = { installation_id, remaining: 5_000, reset_at: inAnHour, paused_until: inAnHour };
    await testDb.db.insertInto('registration_budgets').values(budget).execute();
    expect(await match()).toMatchObject({ reserved: 0 });
    const key = testDb.db.selectFrom('demand_keys').select('wait_reason');
    expect(await key.execute()).toEqual([{ wait_reason: 'github_budget' }]);
    // Long enough for the first pass to meet it, unless the machine is very busy.
    const inASecond = sql<Date>`now() + interval '1 second'`;
    await testDb.db.updateTable('registration_budgets').set({ paused_until: inASecond }).execute();
    const stop = start(600_000);
    const made = await waitFor('the worker', async () => (await workers())[0]);
    expect(made.status).toBe('pending');
    await stop();
    await testDb.db.deleteFrom('registration_budgets').execute();
  });

  test('makes more at once when a node takes a worker that none took before (A7, C4)', async () => {
    const hour = sql<Date>`now() - interval '1 hour'`;
    for (let n = 0; n < 3; n += 1) await putJob(testDb.db);
    await match();
    const full = { registration_started_at: hour, unschedulable_at: hour, created_at: hour };
    await testDb.db.updateTable('workers').set(full).execute();
    for (let n = 0; n < 3; n += 1) await putJob(testDb.db);
    const stop = start(600_000);
    await listening();
    await waitFor('the trial', async () => (await workers()).length === 4);
    await testDb.db.updateTable('workers').set({ unschedulable_at: null }).execute();
    await waitFor('the others', async () => (await workers()).length === 6);
    expect((await workers()).map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 'pending'));
    await stop();
  });

  test('makes it by the tick when no notification comes (C1)', async () => {
    await sql`alter table jobs disable trigger jobs_inserted`.execute(testDb.db);
    const stop = start(50);
    await putJob(testDb.db);
    const made = await waitFor('the worker', async () => (await workers())[0]);
    expect(made.status).toBe('pending');
    await stop();
    await sql`alter table jobs enable trigger jobs_inserted`.execute(testDb.db);
  });
});
