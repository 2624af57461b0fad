import { enqueue } from '@paddock/queue/enqueue';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { putJob } from '@paddock/testing/demand-rows';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { useSweeps } from './scenes/use-scenes.scene.ts';

const database = useTestDatabase();
const sweeps = useSweeps(database);

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);

describe('the rows that the reconciler’s sweeps remove', () => {
  test('by default events and ended jobs go after 90 days, reasons to wait after a day and pods after 6 hours; workers never, and whole (E7)', async () => {
    for (const days of [91, 89]) {
      for (const event of [
        'workflow_job.queued',
        'ping',
        'push',
        'installation.created',
        'auth_attempt.404',
      ]) {
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
      const ended = {
        status: 'completed',
        wants_worker: false,
        created_at: daysAgo(days),
        updated_at: daysAgo(days),
      } as const;
      await putJob(database.db, { run_id: days, job_id: days, ...ended });
    }
    const failure = JSON.stringify({ version: 1, message: 'the image cannot be pulled' });
    const failed = { status: 'failed', failure_info: failure, pod_uid: 'a-uid' } as const;
    await putWorker(database.db, {
      pod_name: 'pdk-old',
      ...failed,
      completed_at: daysAgo(4_000),
      pod_deleted_at: daysAgo(4_000),
    });
    await putWorker(database.db, {
      pod_name: 'pdk-5-hours',
      ...failed,
      completed_at: minutesAgo(300),
    });
    await putWorker(database.db, {
      pod_name: 'pdk-7-hours',
      ...failed,
      completed_at: minutesAgo(420),
    });
    const since = daysAgo(2);
    for (const hours of [23, 25]) {
      const until = new Date(Date.now() - hours * 3_600_000);
      await database.db
        .insertInto('wait_reason_changes')
        .values({ demand_key: hours, reason: 'at_pool_cap', since, until })
        .execute();
    }
    const before = await database.db
      .selectFrom('workers')
      .selectAll()
      .orderBy('pod_name')
      .execute();
    for (const kind of ['upkeep', 'delete-ended-pods'])
      await sweeps.put(kind, { type: 'schedule', id: kind });
    await sweeps.drain();
    const outputs = (await sweeps.operations()).map(({ kind, output }) => [kind, output]);
    // The cluster of these tests answers no call: one pod was to be looked at.
    expect(outputs).toEqual([
      ['delete-ended-pods', expect.objectContaining({ deleted: 0, failed: 1 })],
      [
        'upkeep',
        expect.objectContaining({
          events: { removed: 3 },
          jobs: { removed: 1 },
          waitReasons: { removed: 1 },
          usage: { hours: 2, removed: 0 },
        }),
      ],
    ]);
    expect(
      await database.db.selectFrom('workers').selectAll().orderBy('pod_name').execute(),
    ).toEqual(before);
  });

  test('expired operations are purged, however often, and the counts stay (D9)', async () => {
    await sweeps.put('redeliver', { type: 'app', id: '42' });
    await sweeps.drain();
    const counts = () =>
      database.db
        .selectFrom('task_counts')
        .select(['kind', 'outcome'])
        .where('kind', '=', 'redeliver')
        .execute();
    const before = await counts();
    await sql`update operations set expires_at = now() - interval '1 second'`.execute(database.db);
    for (let time = 0; time < 2; time++) {
      await sweeps.put('upkeep', { type: 'schedule', id: 'upkeep' });
      await sweeps.drain();
    }
    expect((await sweeps.operations()).map(({ kind, output }) => [kind, output])).toMatchObject([
      ['upkeep', { operations: { removed: 1 } }],
      ['upkeep', { operations: { removed: 0 } }],
    ]);
    expect(await counts()).toEqual(before);
  });

  test('sweeps that only write have no dry run: it ends as failed, and writes nothing', async () => {
    const { db } = database;
    await sql`
      insert into tasks (kind, subject_type, subject_id, status, attempt, max_attempts, crashes, max_crashes, started_at, locked_by, locked_until)
      values ('orphaned', 'test', 'again', 'running', 1, 5, 0, 3, now(), 'gone', now() - interval '1 minute')`.execute(
      db,
    );
    await sql`
      insert into task_counts (hour, kind, outcome, ended) select date_trunc('hour', now() - interval '3 hours', 'UTC'), 'a', 'OK', 1 from generate_series(1, 4)`.execute(
      db,
    );
    await sweeps.put('redeliver', { type: 'app', id: '42' });
    await sweeps.drain();
    await sql`update operations set expires_at = now() - interval '1 second'`.execute(db);
    const outputs = async (payload: object) => {
      for (const kind of ['recover-tasks', 'upkeep']) {
        await db
          .transaction()
          .execute((trx) =>
            enqueue(trx, [{ kind, subject: { type: 'schedule', id: kind }, payload }]),
          );
      }
      await sweeps.drain();
      const rows = await db
        .selectFrom('operations')
        .select(['kind', 'output'])
        .where('kind', '<>', 'redeliver')
        .orderBy('kind')
        .execute();
      await db.deleteFrom('operations').where('kind', '<>', 'redeliver').execute();
      return rows.map(({ output }) => output);
    };
    expect(await outputs({ dryRun: true })).toEqual([null, null]);
    expect(await outputs({})).toMatchObject([
      { found: 1, requeued: 1, ended: 0 },
      { operations: { removed: 1 }, taskCounts: { merged: 4, removed: 0 } },
    ]);
  });

  test('a part of upkeep that fails stops no other, and the pass says which failed and why', async () => {
    const { db } = database;
    await sql`insert into wait_reason_changes values (1, 'at_pool_cap', now() - interval '3 days', now() - interval '2 days')`.execute(
      db,
    );
    await sql`alter table usage_hours rename to mislaid`.execute(db);
    await sweeps.put('upkeep', { type: 'schedule', id: 'upkeep' });
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
