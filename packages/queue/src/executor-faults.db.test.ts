import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { connectDatabase } from '@paddock/db/connection/connect';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { enqueueNow, executorsOf, task } from './scenes/executor-under-test.scene.ts';
import type { ExecutorOptions } from './executor.ts';
import type { Kinds, Task } from './kind.ts';
import { done } from './outcome.ts';

const database = useTestDatabase();
const executors = executorsOf();
beforeEach(() => sql`truncate tasks, operations, task_counts`.execute(database.db));
afterEach(executors.stopAll);

const start = (kinds: Kinds, overrides: Partial<ExecutorOptions> = {}) =>
  executors.start(database, kinds, overrides);

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

const server = () =>
  connectDatabase({
    url: process.env['PADDOCK_TEST_SERVER_URL'] ?? '',
    schema: 'public',
    poolSize: 1,
    applicationName: 'test-admin',
  });
const tasks = () => database.db.selectFrom('tasks').selectAll().execute();
const operations = () => database.db.selectFrom('operations').selectAll().execute();
const ownSessions = async () => {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity where datname = current_database() and application_name like 'executor-%'`.execute(
    database.db,
  );
  return rows.map(({ pid }) => pid);
};

describe('stopping', () => {
  test('lets running tasks finish, takes no new ones, and leaves no session behind (D7, H2)', async () => {
    const { runs, kinds } = holdingKind();
    const running = start(kinds);
    await enqueueNow(database.db, task('a', 'x'));
    await waitFor('the run', () => runs.length === 1);
    const stopped = running.stop();
    await enqueueNow(database.db, task('a', 'too late'));
    running.executor.wake();
    runs[0]?.release();
    await stopped;
    expect(await operations()).toMatchObject([{ subject_id: 'x', status: 'OK' }]);
    expect(await tasks()).toMatchObject([{ subject_id: 'too late', status: 'queued', attempt: 0 }]);
    expect(
      await waitFor('the sessions to end', async () => (await ownSessions()).length === 0),
    ).toBe(true);
  });

  test('gives back the claims of unfinished runs: due now, at no cost (D7)', async () => {
    const { runs, kinds } = holdingKind();
    const running = start(kinds, { drainMs: 50 });
    await enqueueNow(database.db, task('a', 'x'));
    await waitFor('the run', () => runs.length === 1);
    await running.stop();
    expect(runs[0]?.signal.aborted).toBe(true);
    expect(running.told.released).toMatchObject([{ why: 'stopping' }]);
    expect(await tasks()).toMatchObject([
      { status: 'queued', attempt: 0, crashes: 0, locked_by: null, failures: [] },
    ]);
    const seen: string[] = [];
    start(quickKind(seen));
    expect(await waitFor('another executor to run it', () => seen.length === 1)).toBe(true);
  });
});

describe('claims', () => {
  test('are renewed while the handler runs, so that no other executor takes the task over (D5)', async () => {
    const { runs, kinds } = holdingKind();
    start(kinds, { claimMs: 6_000, pollMs: 100 });
    const other = start(kinds, { claimMs: 6_000, pollMs: 100 });
    await enqueueNow(database.db, task('a', 'x'));
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
      await enqueueNow(database.db, task('a', 'x'));
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
    await enqueueNow(db, task('a', 'x'));
    await waitFor('the run', () => runs.length === 1);
    const lock = await db.startTransaction().execute();
    await sql`select from tasks for update`.execute(lock);
    await waitFor('a failed renewal', () =>
      running.told.failed.some(({ what }) => what === 'heartbeat'),
    );
    await enqueueNow(db, task('a', 'y'));
    await waitFor('the interruption', () => runs[0]?.signal.aborted === true);
    expect(runs[0]?.task.claimLeft()).toBeLessThan(0.5);
    expect(runs).toHaveLength(1);
    await lock.rollback().execute();
    await waitFor('both to run, the first one again', () => runs.length === 3);
    await waitFor('the release to be told', () => running.told.released.length > 0);
    expect(running.told.released).toMatchObject([{ why: 'claim-lost' }]);
    expect(runs[0]?.task.attempt).toBe(1);
    expect(
      runs
        .slice(1)
        .map(({ task: { subject, attempt, crashes } }) => `${subject.id}: ${attempt}, ${crashes}`)
        .toSorted(),
    ).toEqual(['x: 1, 0', 'y: 1, 0']);
    for (const { release } of runs) release();
  });

  test('a claim that was committed but never reached its executor runs out like any other (D5)', async () => {
    await enqueueNow(database.db, task('a', 'x'));
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

describe('without notifications', () => {
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
    await enqueueNow(database.db, task('a', 'x'));
    await waitFor('the task', () => seen.length === 1);
    await waitFor('new sessions', async () =>
      (await ownSessions()).some((pid) => !before.includes(pid)),
    );
    expect(running.told.failed.map(({ what }) => what)).toContain('listen');
  });

  test('everything happens, only later (D3)', async () => {
    const { db } = database;
    await sql`alter table tasks disable trigger tasks_inserted`.execute(db);
    try {
      const seen: string[] = [];
      start(quickKind(seen), { pollMs: 100 });
      await waitFor('the executor', async () => (await ownSessions()).length === 2);
      await enqueueNow(db, task('a', 'x'));
      expect(await waitFor('the task', () => seen.length === 1)).toBe(true);
    } finally {
      await sql`alter table tasks enable trigger tasks_inserted`.execute(db);
    }
  });
});

describe('while PostgreSQL is away', () => {
  test('a run goes on and is settled when it is back (D5)', async () => {
    const { url, db } = database;
    const name = new URL(url).pathname.slice(1);
    const { runs, kinds } = holdingKind();
    const running = start(kinds, { pollMs: 50 });
    await enqueueNow(db, task('a', 'x'));
    await waitFor('the run', () => runs.length === 1);

    const admin = server();
    try {
      await sql`alter database ${sql.id(name)} with allow_connections false`.execute(admin.db);
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`.execute(
        admin.db,
      );
      await waitFor('a failed claim', () =>
        running.told.failed.some(({ what }) => what === 'claim'),
      );
      runs[0]?.release();
      await waitFor('a failed settle', () =>
        running.told.failed.some(({ what }) => what === 'settle'),
      );
    } finally {
      await sql`alter database ${sql.id(name)} with allow_connections true`.execute(admin.db);
      await admin.close();
    }

    await waitFor('the settle', () => running.told.processed.length === 1);
    await enqueueNow(db, task('a', 'new'));
    await waitFor('the new task', () => runs.length === 2);
    expect(runs[1]?.task.subject.id).toBe('new');
    runs[1]?.release();
  });
});
