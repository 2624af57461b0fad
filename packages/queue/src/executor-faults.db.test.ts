import { beforeAll, describe, expect, test } from '@jest/globals';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { nextDueInMs } from './claim-tasks.ts';
import { enqueue } from './enqueue.ts';
import { done, type Handler, type Kinds, snooze, type Task } from './kind.ts';
import { task, useQueue } from './scenes/executor-under-test.scene.ts';

const queue = useQueue();
const { database } = queue;

const { start, tasks } = queue;

/** A kind whose runs last until they are released or their signal aborts. */
function holdingKind() {
  const runs: { task: Task; signal: AbortSignal; release: () => void }[] = [];
  const kinds: Kinds = {
    a: {
      slots: 4,
      handler: (held, signal) =>
        new Promise((resolve) => {
          runs.push({ task: held, signal, release: () => resolve(done()) });
        }),
    },
  };
  return { runs, kinds };
}
const quickKind = (seen: string[]): Kinds => ({
  a: { slots: 4, handler: (one) => (seen.push(one.subject.id), Promise.resolve(done())) },
});

const ownSessions = async () => {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity where datname = current_database() and application_name like 'executor-%'`.execute(
    database.db,
  );
  return rows.map(({ pid }) => pid);
};

describe('claims', () => {
  test('are renewed while the handler runs, so that no other executor takes the task over (D5)', async () => {
    const { runs, kinds } = holdingKind();
    start(kinds, { claimMs: 6_000, pollMs: 100 });
    const other = start(kinds, { claimMs: 6_000, pollMs: 100 });
    await queue.enqueue(task('a', 'x'));
    await waitFor('renewals', async () => {
      const { rows } =
        await sql`select from tasks where locked_until > started_at + interval '7.5 s'`.execute(
          database.db,
        );
      return rows.length === 1;
    });
    expect(runs).toHaveLength(1);
    expect(other.told.takenOver).toEqual([]);
    expect(runs[0]?.task.claimLeft()).toBeGreaterThan(0);
    expect(runs[0]?.task.claimLeft()).toBeLessThanOrEqual(1);
    for (const { release } of runs) release();
  });

  test.each([
    ['another holder', sql`locked_by = 'another'`],
    ['a later claim of the same executor', sql`locked_by = locked_by`],
  ])(
    'a run whose task has %s by now is interrupted, and its result changes nothing (D5, D6)',
    async (_, taken) => {
      const { runs, kinds } = holdingKind();
      const running = start(kinds, { claimMs: 6_000 });
      await queue.enqueue(task('a', 'x'));
      await waitFor('the run', () => runs.length === 1);
      await sql`update tasks set ${taken}, fence = fence + 1, locked_until = now() + interval '40 seconds'`.execute(
        database.db,
      );
      const claimed = await tasks();
      await waitFor('the interruption', () => runs[0]?.signal.aborted === true);
      await waitFor('the settle', () => running.told.lost.length === 1);
      expect(await tasks()).toEqual(claimed);
      expect(running.told.processed).toEqual([]);
    },
  );

  test('a run is interrupted when its claim could not be renewed for two thirds of it, and nothing is claimed meanwhile (D5)', async () => {
    const { db } = database;
    const { runs, kinds } = holdingKind();
    const running = start(kinds, { claimMs: 4_500, pollMs: 50 });
    await queue.enqueue(task('a', 'x'));
    await waitFor('the run', () => runs.length === 1);
    const lock = await db.startTransaction().execute();
    await sql`select from tasks for update`.execute(lock);
    await waitFor('a failed renewal', () =>
      running.told.failed.some(({ what }) => what === 'heartbeat'),
    );
    await queue.enqueue(task('a', 'y'));
    await waitFor('the interruption', () => runs[0]?.signal.aborted === true);
    expect(runs[0]?.task.claimLeft()).toBeLessThan(0.5);
    expect(runs).toHaveLength(1);
    await lock.rollback().execute();
    await waitFor('both to run, the first one again', () => runs.length === 3);
    await waitFor('the release to be told', () => running.told.released.length > 0);
    expect(running.told.released).toMatchObject([{ why: 'claim-lost' }]);
    for (const run of runs) expect(run.task).toMatchObject({ attempt: 1, crashes: 0 });
    expect(runs.map(({ task: { subject } }) => subject.id).toSorted()).toEqual(['x', 'x', 'y']);
    for (const { release } of runs) release();
  });

  test('when its tables are back, an executor leaves expired claims to their holders for a beat (D5)', async () => {
    const running = start(quickKind([]), { claimMs: 10_000, pollMs: 50 });
    await queue.enqueue(task('a', 'first'));
    await waitFor('the end of the first task', () => running.told.processed.length === 1);
    await sql`alter table tasks rename to tasks_away`.execute(database.db);
    await waitFor('a failed claim', () => running.told.failed.some(({ what }) => what === 'claim'));
    const awayAt = performance.now();
    await waitFor('a beat to pass', () => performance.now() - awayAt > 2_500);
    await database.db.transaction().execute(async (trx) => {
      await sql`alter table tasks_away rename to tasks`.execute(trx);
      await enqueue(trx, [task('a', 'x')]);
      await sql`update tasks set status = 'running', attempt = 1, fence = 1, started_at = now(), locked_until = now(), locked_by = 'another'`.execute(
        trx,
      );
    });
    const backAt = performance.now();
    await waitFor('the task to be taken over', () => running.told.takenOver.length === 1);
    expect(performance.now() - backAt).toBeGreaterThan(1_500);
  });

  test('a claim that was committed but never reached its executor runs out like any other (D5)', async () => {
    await queue.enqueue(task('a', 'x'));
    await sql`update tasks set status = 'running', attempt = 1, fence = 1, started_at = now(), locked_until = now(), locked_by = 'me'`.execute(
      database.db,
    );
    const seen: string[] = [];
    // Long enough that no heartbeat is late: after a late one, an executor gives back at once the
    // claims that it has lost.
    const running = start(quickKind(seen), { holder: 'me', claimMs: 12_000, pollMs: 50 });
    await waitFor('the task to be taken over', () => seen.length === 1);
    expect(running.told.takenOver).toMatchObject([{ attempt: 1, crashes: 1 }]);
  });
});

test('work starts within the poll when the listening connection is cut, and it listens again (D3)', async () => {
  const seen: string[] = [];
  const running = start(quickKind(seen), { pollMs: 100 });
  const before = await waitFor('its sessions', async () => {
    const pids = await ownSessions();
    return pids.length === 2 && pids;
  });
  await sql`select pg_terminate_backend(pid) from unnest(${before}::integer[]) pid`.execute(
    database.db,
  );
  await queue.enqueue(task('a', 'x'));
  await waitFor('the task', () => seen.length === 1);
  await waitFor('new sessions', async () =>
    (await ownSessions()).some((pid) => !before.includes(pid)),
  );
  expect(running.told.failed.map(({ what }) => what)).toContain('listen');
});

describe('with no notification at all', () => {
  beforeAll(() => sql`drop trigger tasks_inserted on tasks`.execute(database.db));

  test('everything happens, each step with the poll (D3)', async () => {
    const runs: { subject: string; atMs: number }[] = [];
    const atMsOf = (subject: string, nth = 0) =>
      runs.filter((run) => run.subject === subject)[nth]?.atMs;
    const release = Promise.withResolvers<void>();
    const handler: Handler = async ({ subject: { id } }) => {
      const nth = runs.push({ subject: id, atMs: performance.now() });
      const earlier = runs.slice(0, nth - 1).filter(({ subject }) => subject === id).length;
      if (earlier > 0) return done();
      if (id === 'fails') throw new Error('502');
      if (id === 'woken') await release.promise;
      if (id === 'waits') return snooze(1, 'at the limit');
      return done(undefined, id === 'parent' ? [task('a', 'follow-on')] : []);
    };
    // No notification names this schema.
    const schema = 'without_senders';
    const backoff = { firstMs: 1, longestMs: 1 };
    start({ a: { handler, slots: 4 } }, { pollMs: 200, schema, backoff });
    await queue.enqueue(task('a', 'first'));
    await waitFor('the executor to run', () => atMsOf('first') !== undefined);

    const enqueued = ['plain', 'fails', 'waits', 'parent', 'woken'];
    await queue.enqueue(...enqueued.map((subject) => task('a', subject)));
    const expected = { plain: 0, fails: 1, waits: 1, 'follow-on': 0, woken: 0 };
    for (const [subject, nth] of Object.entries(expected))
      await waitFor(`run ${nth + 1} of ${subject}`, () => atMsOf(subject, nth));
    await queue.enqueue(task('a', 'woken'));
    release.resolve();
    await waitFor('the successor', () => atMsOf('woken', 1));

    const later = performance.now();
    await queue.enqueue(task('a', 'later', { dueInMs: 300 }));
    const late = (await waitFor('the later task', () => atMsOf('later'))) - later;
    expect(late).toBeGreaterThanOrEqual(290);

    await queueToBeEmpty();
    expect((await queue.operations()).filter(({ status }) => status !== 'OK')).toEqual([]);
  });
});

const HOUR_MS = 3_600_000;

const queueToBeEmpty = () =>
  waitFor('the queue to be empty', async () => (await tasks()).length === 0);

describe('an executor without notifications', () => {
  test('runs a task when it is due, however long its poll', async () => {
    await queue.enqueue(task('a', 'x', { dueInMs: 500 }), task('a', 'y', { dueInMs: 1_000 }));
    start(quickKind([]), { pollMs: HOUR_MS });
    await queueToBeEmpty();
    for (const { queued_at, started_at } of await queue.operations())
      expect((started_at?.getTime() ?? 0) - queued_at.getTime()).toBeGreaterThanOrEqual(500);
  });

  test('rests although a task is due that it cannot take', async () => {
    const { db } = database;
    await queue.enqueue(task('a', 'x'));
    await sql`update tasks set status = 'running', locked_by = 'another', locked_until = now() + interval '1 min', started_at = now()`.execute(
      db,
    );
    const later = task('a', 'later', { dueInMs: HOUR_MS });
    await queue.enqueue(task('a', 'x'), later, task('b', 'y', { dueInMs: 1_000 }));
    expect(await nextDueInMs(db, ['a'])).toBeGreaterThan(HOUR_MS - 60_000);
    expect(await nextDueInMs(db, ['a', 'b'])).toBeLessThanOrEqual(1_000);
    expect(await nextDueInMs(db, ['c'])).toBeUndefined();
  });
});
