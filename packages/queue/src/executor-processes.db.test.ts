import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { startTunnel } from '@paddock/testing/tunnel';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import {
  type ExecutorProcess,
  executorProcesses,
  prepareEffects,
  readEffects,
  sessionsToEnd,
} from './scenes/executor-processes.scene.ts';
import type { Said } from './scenes/executor-program.scene.ts';
import { enqueueNow, task } from './scenes/executor-under-test.scene.ts';

const database = useTestDatabase();
let tunnel: Awaited<ReturnType<typeof startTunnel>>;
let url: string;
const processes = executorProcesses(() => ({ url, schema: database.schema }));
beforeAll(async () => {
  tunnel = await startTunnel(database.url);
  await prepareEffects(database.db);
});
afterAll(() => tunnel.cut());
beforeEach(async () => {
  url = tunnel.url;
  await sql`truncate tasks, operations, task_counts, effects`.execute(database.db);
});
afterEach(async () => {
  await processes.killAll();
  await sessionsToEnd(database.db);
});

/** As by default: a renewal every 3 s, an interruption after 10 s without one. */
const rules = { claimMs: 15_000, pollMs: 5_000 };
const subjects = Array.from({ length: 16 }, (_, n) => `x-${n}`);
const slots = { count: 1, hold: 16 };

const tasks = () => database.db.selectFrom('tasks').selectAll().execute();
const operations = () =>
  database.db.selectFrom('operations').selectAll().orderBy('subject_id').execute();
const counts = () =>
  database.db.selectFrom('task_counts').select(['outcome', 'failure_reason', 'ended']).execute();
const queueToBeEmpty = () =>
  waitFor('the queue to be empty', async () => (await tasks()).length === 0);

/** In seconds, by PostgreSQL's clock. */
async function longestWithoutRenewal(): Promise<number> {
  const { rows } = await sql<{ s: number }>`
    select coalesce(extract(epoch from clock_timestamp() - min(locked_until)), 0)::float8 as s from tasks`.execute(
    database.db,
  );
  return (rows[0]?.s ?? 0) + rules.claimMs / 1_000;
}

/** As the program under test has it. */
const POOL_SIZE = 8;

const sessionsOf = async (name: string) =>
  (
    await sql`select from pg_stat_activity where application_name = ${name} and wait_event_type = 'Lock'`.execute(
      database.db,
    )
  ).rows.length;

/** When the last renewal took place, in milliseconds. */
const renewals = async () =>
  Math.max(...(await tasks()).map(({ locked_until }) => locked_until?.getTime() ?? 0));

async function startBoth(): Promise<[ExecutorProcess, ExecutorProcess]> {
  const holding = await processes.start({ name: 'holding', rules, slots });
  await enqueueNow(database.db, ...subjects.map((subject) => task('hold', subject)));
  await waitFor('all runs', () => holding.heard('began').length === subjects.length);
  return [holding, await processes.start({ name: 'other', rules, slots })];
}

/** Lets all runs end. Returns the faults before that: none, if each still had its task. */
async function whatWasLost([holding, other]: [ExecutorProcess, ExecutorProcess]): Promise<
  readonly Said[]
> {
  await waitFor('a renewal', async () => (await longestWithoutRenewal()) < 5);
  for (const subject of subjects) holding.open(subject);
  await queueToBeEmpty();
  const bad = ['aborted', 'lost', 'released', 'taken over'] as const;
  return [holding, other]
    .flatMap(({ heard }) => bad.flatMap((what) => heard(what)))
    .concat(other.heard('began'));
}

test('12 executors in 3 processes run 1 000 tasks, and each takes effect once (D2)', async () => {
  const { db } = database;
  const options = { executors: 4, slots: { count: 4, hold: 1 } };
  const started = await Promise.all(
    ['red', 'green', 'blue'].map((name) => processes.start({ name, ...options })),
  );
  // One slot for these in each: all twelve are at work when each of twelve tasks has another
  // holder.
  const barrier = Array.from({ length: 12 }, (_, n) => task('hold', `barrier-${n}`));
  await enqueueNow(db, ...barrier);
  const holders = () =>
    new Set(started.flatMap(({ heard }) => heard('began')).map(({ holder }) => holder));
  await waitFor('all twelve executors', () => holders().size === 12);

  for (let n = 0; n < 1_000; n += 50) {
    await enqueueNow(db, ...Array.from({ length: 50 }, (_, i) => task('count', `w-${n + i}`)));
    if (n === 500)
      for (const process of started) for (const { subject } of barrier) process.open(subject.id);
  }
  await queueToBeEmpty();

  const effects = await readEffects(db);
  expect(effects).toHaveLength(1_012);
  expect(new Set(effects.map(({ task_id }) => task_id)).size).toBe(1_012);
  const ended = await operations();
  expect(ended).toHaveLength(1_012);
  const holderOf = new Map(effects.map(({ task_id, holder }) => [task_id, holder]));
  for (const { id, status, attempt, crashes, output } of ended)
    expect([status, attempt, crashes, output]).toEqual(['OK', 1, 0, { by: holderOf.get(id) }]);
  expect((await counts()).reduce((sum, row) => sum + row.ended, 0)).toBe(1_012);
  for (const { heard } of started)
    expect([heard('lost'), heard('taken over'), heard('failed')]).toEqual([[], [], []]);
});

test('16 tasks of an executor that is killed go on elsewhere within 20 s, one crash each and no attempt (D5)', async () => {
  const [holding, other] = await startBoth();
  holding.kill('SIGKILL');
  await holding.exited;
  const killedAt = performance.now();
  const claims = new Map(
    (await tasks()).map(({ id, locked_until }) => [id, locked_until?.getTime() ?? 0]),
  );
  await waitFor('all runs', () => other.heard('began').length === subjects.length);
  expect(performance.now() - killedAt).toBeLessThan(20_000);
  for (const { id, crashes, attempt, started_at } of await tasks()) {
    expect({ crashes, attempt }).toEqual({ crashes: 1, attempt: 1 });
    expect(started_at?.getTime()).toBeGreaterThanOrEqual(claims.get(id) ?? Number.NaN);
  }
  for (const subject of subjects) other.open(subject);
  await queueToBeEmpty();
  const effects = (await readEffects(database.db)).map(({ holder }) => holder);
  expect(effects).toEqual(subjects.map(() => 'other-1'));
});

test.each(['process', 'PostgreSQL'])(
  'a %s that stops for longer than two renewals loses no task and aborts none (D5)',
  async (what) => {
    const both = await startBoth();
    const hold = (isHeld: boolean) =>
      what === 'PostgreSQL' ? tunnel.setHeld(isHeld) : both[0].kill(isHeld ? 'SIGSTOP' : 'SIGCONT');
    hold(true);
    await waitFor('no renewal', async () => (await longestWithoutRenewal()) > 7);
    hold(false);
    expect(await whatWasLost(both)).toEqual([]);
  },
);

test('a holder whose own connections are ended opens others and loses nothing (D5)', async () => {
  const both = await startBoth();
  const { rows } = await sql`
    select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'holding-1-own'`.execute(
    database.db,
  );
  // The listener's, and the one that renews.
  expect(rows).toHaveLength(2);
  expect(await whatWasLost(both)).toEqual([]);
});

test('a renewal does not wait behind a pool that is full (D5)', async () => {
  const [holding] = await startBoth();
  await database.db.transaction().execute(async (trx) => {
    await sql`lock table effects in access exclusive mode`.execute(trx);
    // Each run takes a connection of the pool, and waits: more runs than connections.
    for (const subject of subjects) holding.open(subject);
    await waitFor('a full pool', async () => (await sessionsOf('holding')) >= POOL_SIZE);
    const before = await renewals();
    await waitFor('two more renewals', async () => (await renewals()) >= before + 6_000);
  });
  expect([holding.heard('aborted'), holding.heard('lost')]).toEqual([[], []]);
});

test('a holder that is cut off from PostgreSQL interrupts its runs before another one begins them (D5)', async () => {
  const ownWay = await startTunnel(database.url);
  url = ownWay.url;
  const holding = await processes.start({ name: 'holding', rules, slots });
  await enqueueNow(database.db, ...subjects.map((subject) => task('hold', subject)));
  await waitFor('all runs', () => holding.heard('began').length === subjects.length);
  url = tunnel.url;
  const other = await processes.start({ name: 'other', rules, slots });
  await ownWay.cut();
  const interrupted = await waitFor(
    'the first run elsewhere',
    () => other.heard('began').length > 0 && holding.heard('aborted').length,
  );
  expect(interrupted).toBe(subjects.length);
  await waitFor('all runs elsewhere', () => other.heard('began').length === subjects.length);
});

/** How long after the end of its first holder's claim the task was taken, in milliseconds. */
const takenAfterClaim = async (subject: string, lockedUntil: Date | null | undefined) => {
  const row = (await operations()).find(({ subject_id }) => subject_id === subject);
  return (row?.started_at?.getTime() ?? 0) - (lockedUntil?.getTime() ?? Number.NaN);
};

test('an executor that hangs for longer than its claim wakes up to find its handlers aborted and its settles void: the work was done once, by another (D5, D6)', async () => {
  const { db } = database;
  // A live holder may stop for two thirds of it, as on a busy machine.
  const brief = { claimMs: 5_000 };
  const hung = await processes.start({ name: 'hung', rules: brief });
  await enqueueNow(db, task('hold', 'obeys'), task('hold', 'deaf', { payload: { deaf: true } }));
  await hung.waitFor('began', 'obeys');
  await hung.waitFor('began', 'deaf');
  const other = await processes.start({ name: 'other', rules: brief });
  const over = (await tasks()).map(({ locked_until }) => locked_until?.getTime() ?? Number.NaN);
  hung.kill('SIGSTOP');

  for (const subject of ['obeys', 'deaf']) {
    expect(await other.waitFor('began', subject)).toMatchObject({ attempt: 1, crashes: 1 });
  }
  // The one is over when the first holder wakes up, the other is still at work.
  other.open('obeys');
  await other.waitFor('processed', 'obeys');
  const ended = [await operations(), await counts(), await readEffects(db)];

  // This one's result is ready the moment the process goes on.
  hung.open('deaf');
  hung.kill('SIGCONT');
  await hung.waitFor('aborted', 'obeys');
  await hung.waitFor('lost', 'obeys');
  await hung.waitFor('lost', 'deaf');
  expect([hung.heard('processed'), hung.heard('released')]).toEqual([[], []]);
  expect([await operations(), await counts(), await readEffects(db)]).toEqual(ended);
  const held = { status: 'running', locked_by: 'other-1', fence: 2, attempt: 1, crashes: 1 };
  expect(await tasks()).toMatchObject([{ subject_id: 'deaf', ...held }]);

  other.open('deaf');
  await queueToBeEmpty();
  const others = { status: 'OK', output: { by: 'other-1' } };
  expect(await operations()).toMatchObject([others, others]);
  expect(await readEffects(db)).toMatchObject([
    { subject: 'deaf', holder: 'other-1' },
    { subject: 'obeys', holder: 'other-1' },
  ]);
  for (const subject of ['obeys', 'deaf'])
    expect(await takenAfterClaim(subject, new Date(Math.min(...over)))).toBeGreaterThanOrEqual(0);
  expect((await counts()).reduce((sum, row) => sum + row.ended, 0)).toBe(2);

  other.kill('SIGKILL');
  await other.exited;
  await enqueueNow(db, task('hold', 'afterwards'));
  await hung.waitFor('began', 'afterwards');
  hung.open('afterwards');
  expect(await hung.waitFor('processed')).toMatchObject({ subject: 'afterwards', detail: 'ok' });
});

test.each(['SIGTERM', 'SIGINT'] as const)(
  'a process that is told to stop by %s finishes runs in time, gives the rest back, takes no new task and ends with code 0 (D7, H2)',
  async (signal) => {
    const { db } = database;
    // Both slots are taken when it stops: so a claim that is under way then cannot take later
    // tasks.
    const stopping = await processes.start({
      name: 'stopping',
      slots: { count: 1, hold: 2 },
      rules: { drainMs: 5_000 },
    });
    const stays = task('hold', 'stays', { payload: { deaf: true } });
    await enqueueNow(db, task('hold', 'finishes'), stays);
    await stopping.waitFor('began', 'finishes');
    await stopping.waitFor('began', 'stays');
    stopping.kill(signal);
    await stopping.waitFor('stopping');
    await enqueueNow(db, task('hold', 'too late'));
    stopping.open('finishes');
    expect(await stopping.exited).toEqual({ code: 0, signal: null });

    expect(await operations()).toMatchObject([
      { subject_id: 'finishes', status: 'OK', output: { by: 'stopping-1' } },
    ]);
    const rows = await tasks();
    expect(rows.map(({ subject_id }) => subject_id).toSorted()).toEqual(['stays', 'too late']);
    const back = { status: 'queued', attempt: 0, crashes: 0, locked_by: null, failures: [] };
    expect(rows).toMatchObject([back, back]);
    expect(rows.every(({ due_at }) => due_at.getTime() <= Date.now())).toBe(true);
    expect(stopping.heard('released')).toMatchObject([{ subject: 'stays', detail: 'stopping' }]);
    expect(stopping.heard('failed')).toEqual([]);
    await sessionsToEnd(db);
  },
);
