import { beginSession, findIdentity } from '@paddock/api/sessions/sessions';
import { describe, expect, test } from '@jest/globals';
import { putInstallation, putJob } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { putWorker } from '@paddock/testing/worker-rows';
import { sql } from 'kysely';
import { INSTANTS, mendInstants } from './instants.ts';

const database = useTestDatabase();
const mend = (ours?: Date) => mendInstants(database.dbOf('reconciler'), ours);
const ahead = (interval: string) => sql<Date>`now() + ${interval}::interval`;
const YEAR = ahead('365 days');

describe('an instant too far ahead is void', () => {
  test('of a live worker and a job: it is now, and what lies within its length stays', async () => {
    const { db } = database;
    await putInstallation(db);
    await db.updateTable('installations').set({ stated_at: YEAR }).execute();
    const { job_id: job } = await putJob(db);
    const wrong = { created_at: YEAR, lookup_due_at: YEAR };
    await db.updateTable('jobs').set(wrong).execute();
    const { job_id: right } = await putJob(db);
    await db
      .updateTable('jobs')
      .set({ lookup_due_at: ahead('6 hours') })
      .where('job_id', '=', right)
      .execute();
    await putWorker(db, { created_at: YEAR, stopping_at: YEAR, unexplained_until: YEAR });
    const ended = { status: 'completed' as const, completed_at: YEAR, created_at: YEAR };
    await putWorker(db, { ...ended, pod_deleted_at: YEAR });
    expect((await mend()).mended).toEqual({ installations: 1, jobs: 2, workers: 2 });
    expect((await mend()).mended).toEqual({});
    const mended = sql<boolean>`created_at <= now() and lookup_due_at <= now()`.as('mended');
    const row = db.selectFrom('jobs').select(mended).where('job_id', '=', job);
    expect(await row.executeTakeFirstOrThrow()).toEqual({ mended: true });
  });

  test('of an event is looked for where others are void', async () => {
    const { db } = database;
    const event = { source: 'webhook', event: 'ping', outcome: 'noted', payload: '{}' } as const;
    await db
      .insertInto('installation_events')
      .values({ ...event, received_at: YEAR })
      .execute();
    expect((await mend()).mended).toEqual({});
    await db
      .insertInto('leases')
      .values({ name: 'a', holder: 'died', fence: 1, expires_at: YEAR })
      .execute();
    expect((await mend()).mended).toEqual({ leases: 1, installation_events: 1 });
  });

  test('stays as it is while PostgreSQL’s clock and ours disagree', async () => {
    const { db } = database;
    await db.updateTable('leases').set({ expires_at: YEAR }).execute();
    const behind = await mend(new Date(Date.now() + 3_600_000));
    expect([Math.round(behind.aheadSeconds / 60), behind.mended]).toEqual([-60, {}]);
    expect((await mend()).mended).toEqual({ leases: 1 });
  });

  test('ends a session', async () => {
    const { db } = database;
    const owner = { person: 'person ada', groups: [] };
    const [, id = ''] = (await beginSession(db, owner)).split('_');
    expect(await findIdentity(db, id)).toBeDefined();
    await db.updateTable('sessions').set({ expires_at: YEAR }).execute();
    expect(await findIdentity(db, id)).toBeUndefined();
  });
});

/** Columns that nothing waits for by PostgreSQL's clock, by table. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  // What people read.
  actions: ['acted_at'],
  instance: ['created_at'],
  login_pins: ['pinned_at'],
  outages: ['since'],
  operations: ['queued_at', 'started_at', 'finished_at', 'handled_at'],
  pools_documents: ['loaded_at'],
  switches: ['since'],
  usage_hours: ['hour', 'summed_at'],
  // Each statement that reads it knows how far ahead it may lie.
  sessions: ['created_at', 'expires_at'],
  tokens: ['created_at', 'last_used_at', 'revoked_at'],
  // Kept for longer, and then retired.
  task_counts: ['hour'],
  wait_reason_changes: ['since', 'until'],
  // By GitHub's clock.
  apps: ['log_read_to', 'log_cursor_from'],
  pool_runner_versions: ['ends_at'],
  unresolved_deliveries: ['first_failed_at', 'last_failed_at', 'resolved_at'],
  // That it is there says all.
  installations: ['suspended_at', 'deleted_at'],
  jobs: ['queued_at', 'started_at', 'completed_at', 'updated_at'],
  workers: ['secret_deleted_at', 'pod_deleted_at', 'updated_at'],
  // Read where other instants are void.
  installation_events: ['received_at'],
};

test('every instant of a table has a longest length, or none is needed', async () => {
  const { rows } = await sql<{ name: string }>`
    select table_name || '.' || column_name as name from information_schema.columns
    where table_schema = current_schema() and data_type = 'timestamp with time zone'`.execute(
    database.db,
  );
  const known = [
    ...INSTANTS.flatMap(({ table, longest }) =>
      Object.keys(longest).map((column) => `${table}.${column}`),
    ),
    ...Object.entries(OTHERS).flatMap(([table, columns]) =>
      columns.map((column) => `${table}.${column}`),
    ),
  ];
  const found = rows.map(({ name }) => name);
  expect(known.toSorted()).toEqual(found.toSorted());
});
