import { beforeEach, describe, expect, test } from '@jest/globals';
import { retireEvents } from '@paddock/db/retire-rows';
import { takeLease } from '@paddock/db/leases/leases';
import { mendInstants } from '@paddock/db/instants';
import { takeTick } from '@paddock/db/schedules/schedules';
import { findSweepStates } from '@paddock/db/schedules/sweep-states';
import { emptyAll, emptyTables, useTestDatabase } from '@paddock/testing/use-test-database';
import { type RawBuilder, sql } from 'kysely';
import { claimTasks } from './claim-tasks.ts';
import { enqueueAlone } from './enqueue.ts';
import { recoverTasks } from './recover-tasks.ts';

const database = useTestDatabase();
const year = sql<Date>`now() + interval '365 days'`;
const KEEP = { okMs: 60_000, failedMs: 60_000 };
const SWEEP = 'look-up-jobs';

beforeEach(() => emptyAll(database.db));

const claim = (holder: string, takeOver: boolean) =>
  claimTasks(database.db, {
    holder,
    slots: { [SWEEP]: 1 },
    takeOver,
    claimMs: 60_000,
    keepFailedMs: 1_000,
  });

/** A task that an executor held when it died, in the wrong minute. */
async function leaveTask(): Promise<void> {
  await enqueueAlone(database.db, [{ kind: SWEEP, subject: { type: 'schedule', id: SWEEP } }]);
  await claim('died', false);
  await database.db.updateTable('tasks').set({ locked_until: year, started_at: year }).execute();
}

describe('after PostgreSQL’s clock was a year ahead for a time', () => {
  test('a sweep ticks again, and counts as overdue after its usual time (E9)', async () => {
    const { db } = database;
    const late = { last_tick_at: year, succeeded_at: year };
    await db
      .insertInto('schedules')
      .values({ name: SWEEP, ...late })
      .execute();
    const tick = { name: SWEEP, tickAt: new Date() };
    expect(await db.transaction().execute((trx) => takeTick(trx, tick))).toBeDefined();
    expect(await db.transaction().execute((trx) => takeTick(trx, tick))).toBeUndefined();
    expect((await mendInstants(db)).mended).toEqual({ schedules: 1 });
    const [state] = await findSweepStates(db, [{ name: SWEEP, kind: SWEEP, subjectId: SWEEP }]);
    expect(state?.secondsSinceSuccess).toBeGreaterThanOrEqual(0);
  });

  test('the lease of a holder that died is taken', async () => {
    const { db } = database;
    await db
      .insertInto('leases')
      .values({ name: 'follow-pods', holder: 'died', fence: 1, expires_at: year })
      .execute();
    expect(await takeLease(db, 'follow-pods', 'alive', 8_000)).toBe(2);
    expect(await takeLease(db, 'follow-pods', 'other', 8_000)).toBeUndefined();
  });

  test('the task of an executor that died is taken over, or recovered (D5, E8)', async () => {
    await leaveTask();
    expect(await claim('alive', true)).toMatchObject([{ takenOver: true }]);
    await emptyTables(database.db, ['tasks']);
    await leaveTask();
    const recovered = await recoverTasks(database.db, { batch: 10, keep: KEEP });
    expect(recovered).toMatchObject({ found: 1, requeued: 1 });
  });

  test('a task that is due then is due within a minute', async () => {
    await enqueueAlone(database.db, [{ kind: SWEEP, subject: { type: 'schedule', id: SWEEP } }]);
    await database.db.updateTable('tasks').set({ due_at: year }).execute();
    expect((await mendInstants(database.dbOf('reconciler'))).mended).toEqual({ tasks: 1 });
    expect(await claim('alive', false)).toHaveLength(1);
  });

  test('an event of that time holds up no older one (E7)', async () => {
    const { db } = database;
    const put = (at: typeof year, count: number) =>
      sql`insert into installation_events (source, event, outcome, payload, received_at)
        select 'webhook', 'ping', 'noted', '{}', ${at} from generate_series(1, ${count}::integer)`.execute(
        db,
      );
    await put(year, 1);
    await put(sql<Date>`now() - interval '200 days'`, 1_000);
    const retired = await retireEvents(db, { afterId: 0, keepDays: 90, batch: 2_000 });
    expect(retired.removed).toBe(1_000);
  });
});

const hour = sql`interval '1 hour'`;
const setTasks = (change: RawBuilder<unknown>) =>
  sql`update tasks set ${change}`.execute(database.db);
/** A sweep's task that waits for half an hour. */
const enqueueLater = () =>
  enqueueAlone(database.db, [
    { kind: SWEEP, subject: { type: 'schedule', id: SWEEP }, dueInMs: 1_800_000 },
  ]);
const isClaimedAfterMending = async () => {
  await mendInstants(database.dbOf('reconciler'));
  return (await claim('alive', false)).length === 1;
};
const putOffAt = (at: RawBuilder<unknown>) =>
  sql`failures = jsonb_build_array(jsonb_build_object('at', ${at}, 'reason', 'snooze'))`;

describe('after PostgreSQL’s clock was an hour ahead for a time', () => {
  test('a task that was made then is due at once, and one that has time waits', async () => {
    await enqueueLater();
    expect(await isClaimedAfterMending()).toBe(false);
    await setTasks(sql`queued_at = queued_at + ${hour}, due_at = due_at + ${hour}`);
    expect(await isClaimedAfterMending()).toBe(true);
  });

  test('so is one that was put off then', async () => {
    await enqueueLater();
    await setTasks(putOffAt(sql`now()`));
    expect(await isClaimedAfterMending()).toBe(false);
    await setTasks(putOffAt(sql`now() + ${hour}`));
    expect(await isClaimedAfterMending()).toBe(true);
  });
});
