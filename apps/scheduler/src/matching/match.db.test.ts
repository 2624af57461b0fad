import { describe, expect, test } from '@jest/globals';
import { examplePools, putJob, putPools, putInstallation } from '@paddock/testing/demand-rows';
import { fc } from '@paddock/testing/random-cases';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { sql } from 'kysely';
import {
  emptyMatchingTables,
  useMatchingDatabase,
  matchOnce,
  findReasons,
  matchAll,
} from '../scenes/matching.scene.ts';
import { countsOf } from '../scenes/scheduler.scene.ts';
import { GATE } from '../scenes/settings.scene.ts';
import { matchOnce as matchWithin } from './match.ts';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { examplePayload } from '@paddock/testing/signed-delivery';
import { deliveryToRecord } from '@paddock/db/scenes/delivery.scene';
import { recordDeliveries } from '@paddock/db/deliveries/record-deliveries';

const pools = { version: 1, document: examplePools({ entities: { '*': { maxWorkers: 30 } } }) };

const JOBS = 40;

const ACTIONS = ['queued', 'in_progress', 'completed'] as const;

const delivery = (action: (typeof ACTIONS)[number], id: number, runnerName: string) =>
  deliveryToRecord(
    'workflow_job',
    examplePayload('workflow_job', action, {
      workflow_job: { id, labels: ['linux'], runner_name: action === 'queued' ? null : runnerName },
      repository: {
        id: 21,
        full_name: 'acme/api',
        private: true,
        owner: { id: 11, login: 'acme', type: 'Organization' },
      },
      installation: { id: 31 },
    }),
  );

describe('matchOnce', () => {
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

  const match = async () => countsOf(await matchOnce(testDb.db));

  const workers = () => testDb.db.selectFrom('workers').selectAll().orderBy('pod_name').execute();

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
      await expect(matchWithin(testDb.db, GATE, limits)).rejects.toMatchObject({ code: '55P03' });
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

describe('a name that is taken makes one worker fewer, which the next pass makes (A5)', () => {
  const testDb = useMatchingDatabase(examplePools());

  /** One pass in which every new worker gets the same name. */
  async function matchWithOneName(): Promise<number> {
    const { db } = testDb;
    await sql`
    create function take_one_name() returns trigger language plpgsql as $$ begin new.pod_name := 'pdk-taken'; return new; end $$`.execute(
      db,
    );
    await sql`create trigger one_name before insert on workers for each row execute function take_one_name()`.execute(
      db,
    );
    try {
      return (await matchOnce(db)).reserved.length;
    } finally {
      await sql`drop function take_one_name() cascade`.execute(db);
    }
  }

  test('of those that jobs wait for', async () => {
    await putJob(testDb.db);
    await putJob(testDb.db);
    expect(await matchWithOneName()).toBe(1);
    expect((await matchOnce(testDb.db)).reserved).toHaveLength(1);
  });

  test('of those that are kept warm', async () => {
    await putInstallation(testDb.db);
    await putPools(testDb.db, examplePools({ pools: [{ warm: [{ scope: 'acme', workers: 2 }] }] }));
    expect(await matchWithOneName()).toBe(1);
    expect((await matchOnce(testDb.db)).reserved).toHaveLength(1);
  });
});

describe('matching beside ingress', () => {
  const testDb = useTestDatabase();

  const workers = () =>
    testDb.db
      .selectFrom('workers')
      .select(['pod_name', 'status', 'assigned_at'])
      .orderBy('created_at')
      .execute();

  /**
   * Every job is queued, starts on one of our workers and ends, in batches whose jobs come in another
   * order each time.
   */
  async function deliver(shift: number): Promise<void> {
    for (const action of ACTIONS) {
      const made = await workers();
      const batch = Array.from({ length: JOBS }, (_, index) => {
        const id = 900 + ((index * 7 + shift) % JOBS);
        return delivery(
          action,
          id,
          made[(id + shift) % Math.max(made.length, 1)]?.pod_name ?? 'foreign',
        );
      });
      for (let first = 0; first < JOBS; first += 10)
        await recordDeliveries(testDb.db, batch.slice(first, first + 10), pools);
    }
  }

  test('matching beside ingress that writes the same jobs and workers ends without a deadlock and within the caps (B6, C5)', async () => {
    await putPools(testDb.db, pools.document);
    const delivered = new AbortController();
    const match = async () => {
      while (!delivered.signal.aborted) {
        await matchOnce(testDb.db, { most: 7 });
        const alive = (await workers()).filter(
          ({ status }) => status === 'pending' || status === 'running',
        );
        expect(alive.length).toBeLessThanOrEqual(30);
      }
    };
    const delivering = Promise.all([0, 13, 26].map(deliver)).finally(() => delivered.abort());
    await Promise.all([delivering, match(), match()]);
    await matchAll(testDb.db);
    // All jobs have ended, so no unregistered reservation is kept for them.
    expect(await findReasons(testDb.db)).toEqual({});
    expect(
      (await workers()).filter(
        ({ status, assigned_at: assigned }) => status === 'pending' && assigned === null,
      ),
    ).toEqual([]);
  });
});
