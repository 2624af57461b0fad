import { beginSession, findIdentity } from '@paddock/api/sessions/sessions';
import { describe, expect, test } from '@jest/globals';
import { putInstallation, putJob, putWorker } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { EVENTS, INSTANTS, mendInstants } from './instants.ts';

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
    expect((await mend()).mended).toEqual({ installations: 1, jobs: 1, workers: 1 });
    expect((await mend()).mended).toEqual({});
    const mended = sql<boolean>`created_at <= now() and lookup_due_at <= now()`.as('mended');
    const row = db.selectFrom('jobs').select(mended).where('job_id', '=', job);
    expect(await row.executeTakeFirstOrThrow()).toEqual({ mended: true });
  });

  test('but not of a pod that may take an hour to go', async () => {
    await putWorker(database.db, { terminating_at: ahead('1 hour') });
    expect((await mend()).mended).toEqual({});
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

  test('of a service’s life, and of the environment’s beginning', async () => {
    const { db } = database;
    const wrong = { created_at: YEAR, ingress_seen_at: YEAR };
    await db.updateTable('instance').set(wrong).execute();
    expect((await mend()).mended).toEqual({ instance: 1 });
    const isPast = sql<boolean>`greatest(created_at, ingress_seen_at) <= now()`.as('isPast');
    expect(await db.selectFrom('instance').select(isPast).execute()).toEqual([{ isPast: true }]);
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

/** Tables that people read, or that are only deleted by their age; a statement that compares knows the length. */
const OTHERS = [
  'actions',
  'login_pins',
  'outages',
  'pools_documents',
  'sessions',
  'switches',
  'task_counts',
  'tokens',
  'usage_hours',
  'wait_reason_changes',
];

test('the instants of every table have lengths, or need none', async () => {
  const { rows } = await sql<{ name: string }>`
    select distinct table_name as name from information_schema.columns
    where table_schema = current_schema() and data_type = 'timestamp with time zone'`.execute(
    database.db,
  );
  const known = new Set([...[...INSTANTS, EVENTS].map(({ table }) => table), ...OTHERS]);
  expect(known).toEqual(new Set(rows.map(({ name }) => name)));
});
