import { describe, expect, test } from '@jest/globals';
import { examplePools, putJob, putPools } from '@paddock/testing/demand-rows';
import { fc } from '@paddock/testing/random-cases';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { sql } from 'kysely';
import { emptyMatchingTables, useMatchingDatabase } from '../scenes/matching.scene.ts';
import { countsOf } from '../scenes/scheduler.scene.ts';
import { GATE } from '../scenes/settings.scene.ts';
import { matchOnce } from './match.ts';

const testDb = useMatchingDatabase(examplePools());

async function clear(): Promise<void> {
  await emptyMatchingTables(testDb.db);
  await putPools(testDb.db, examplePools());
}

const tasks = () =>
  testDb.db
    .selectFrom('tasks')
    .select(['kind', 'subject_id', 'delivery_guid'])
    .orderBy('subject_id')
    .orderBy('kind')
    .execute();
const match = async () => countsOf(await matchOnce(testDb.db, GATE));
const workers = () => testDb.db.selectFrom('workers').selectAll().orderBy('pod_name').execute();

describe('matchOnce', () => {
  test('enqueues one provisioning per reserved worker, in the same transaction, with the delivery it goes back to (C6, D14)', async () => {
    await putJob(testDb.db, { delivery_guid: 'guid-1' });
    await putJob(testDb.db);
    expect(await match()).toMatchObject({ reserved: 2, ended: 0, stopped: 0, lacking: 0 });
    const made = await workers();
    expect(await tasks()).toEqual(
      made.map((worker) => ({
        kind: 'provision-worker',
        subject_id: worker.pod_name,
        delivery_guid: worker.delivery_guid,
      })),
    );
  });

  test('enqueues the end of each stopped worker, and the making of one that is wanted again before it had a pod (C3, D14)', async () => {
    const at = minutesAgo(5);
    const { pod_name: name } = await putWorker(testDb.db, {
      registration_started_at: at,
      registered_at: at,
    });
    expect((await match()).stopped).toBe(1);
    expect(await tasks()).toEqual([{ kind: 'stop-worker', subject_id: name, delivery_guid: null }]);
    await putJob(testDb.db);
    expect(await match()).toMatchObject({ reserved: 0, takenBack: 1 });
    expect((await tasks()).map(({ kind }) => kind)).toEqual(['provision-worker', 'stop-worker']);
  });

  test('keeps nothing when the enqueuing fails: no worker without its task (D14)', async () => {
    await putJob(testDb.db);
    await sql`alter table tasks add constraint refuse check (kind <> 'provision-worker')`.execute(
      testDb.db,
    );
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
      await sql`select pg_advisory_xact_lock((select oid from pg_namespace where nspname = current_schema())::int, 1)`.execute(
        hanging,
      );
      await expect(matchOnce(testDb.db, GATE, limits)).rejects.toMatchObject({ code: '55P03' });
    });
    expect((await match()).reserved).toBe(1);
  });

  test('says the same as the reference rule while every job runs on the worker made for it (C3)', async () => {
    const steps = fc.array(
      fc.tuple(fc.constantFrom('arrive', 'start', 'finish', 'lose', 'match'), fc.nat(5)),
      {
        minLength: 1,
        maxLength: 25,
      },
    );
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

/**
 * Jobs pending or running less workers pending or running, per entity and labels: the reference
 * rule.
 */
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
      await db
        .updateTable('jobs')
        .set({ status: 'running', wants_worker: false })
        .where('job_id', '=', job)
        .execute();
      await db
        .updateTable('workers')
        .set({ status: 'running', assigned_at: new Date(), assigned_job_id: job })
        .where('pod_name', '=', worker.pod_name)
        .execute();
      return;
    case 'finish':
      if (worker === undefined || worker.assigned_at === null) return;
      await db
        .updateTable('jobs')
        .set({ status: 'completed', completed_at: new Date() })
        .where('job_id', '=', job)
        .execute();
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
