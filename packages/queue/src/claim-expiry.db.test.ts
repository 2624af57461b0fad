import { beforeEach, describe, expect, test } from '@jest/globals';
import { clientConfig } from '@paddock/db/connection/connect';
import { ownConnection } from '@paddock/db/connection/own-connection';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { claimTasks } from './claim-tasks.ts';
import { enqueueNow, task } from './scenes/executor-under-test.scene.ts';
import { beatLimits, holderName, SHOW_SESSION } from './claim-expiry.ts';
import { recoverTasks } from './recover-tasks.ts';

const KEEP = { okMs: 60_000, failedMs: 60_000 };
const ASKER = holderName('looker', 30_000);
const HOLDER = holderName('holder', 30_000);

const database = useTestDatabase();
beforeEach(() => sql`truncate tasks, operations, task_counts`.execute(database.db));

/** Runs `work` while these holders have sessions. */
async function withSessions<T>(
  holders: readonly string[],
  work: () => Promise<T>,
  schema = database.schema,
): Promise<T> {
  const config = clientConfig({ url: database.url, schema, applicationName: 'holder' });
  const sessions = holders.map((holder) =>
    ownConnection({
      config,
      begin: { text: SHOW_SESSION, values: [holder] },
      ...beatLimits(30_000),
    }),
  );
  try {
    await Promise.all(sessions.map((session) => session.query('select 1', [])));
    return await work();
  } finally {
    await Promise.all(sessions.map((session) => session.close()));
  }
}

/** Whether a task that this holder renewed so long ago is taken over. */
async function isTaken(holder: string, seconds: number): Promise<boolean> {
  await sql`truncate tasks`.execute(database.db);
  await enqueueNow(database.db, task('a', 'x'));
  await sql`update tasks set status = 'running', locked_by = ${holder}, locked_at = now() - ${seconds} * interval '1 s', started_at = now()`.execute(
    database.db,
  );
  const claimed = await claimTasks(database.db, {
    holder: ASKER,
    slots: { a: 1 },
    takeOver: true,
    keepFailedMs: 60_000,
  });
  return claimed.length > 0;
}

describe('a task that runs elsewhere', () => {
  test.each([
    ['whose session lasts: when its claim is over', [ASKER, HOLDER], 29, 31],
    ['whose session is gone: after two fifths of its claim', [ASKER], 11, 13],
    ['whose session is gone, while the looker has none either: when its claim is over', [], 29, 31],
  ])('is taken over from a holder %s (D5)', async (_whose, sessions, kept, taken) => {
    const [before, after] = await withSessions(sessions, async () => [
      await isTaken(HOLDER, kept),
      await isTaken(HOLDER, taken),
    ]);
    expect([before, after]).toEqual([false, true]);
  });

  test('goes by the claim of its holder, not by that of the executor that looks', async () => {
    const slow = holderName('holder', 120_000);
    const taken = await withSessions([ASKER, slow], async () => [
      await isTaken(slow, 119),
      await isTaken(slow, 121),
    ]);
    expect(taken).toEqual([false, true]);
  });

  test('is judged by the sessions of its own environment', async () => {
    await sql`create schema another`.execute(database.db);
    const taken = await withSessions(
      [HOLDER],
      () => withSessions([ASKER], () => isTaken(HOLDER, 13)),
      'another',
    );
    expect(taken).toBe(true);
  });

  test.each([
    [HOLDER, 29, 31],
    [holderName('holder', 300_000), 299, 301],
  ])(
    'is recovered by the same claim where no executor runs its kind: %s (E8)',
    async (holder, kept, over) => {
      for (const seconds of [kept, over]) {
        await sql`truncate tasks`.execute(database.db);
        await enqueueNow(database.db, task('a', 'x'));
        await sql`update tasks set status = 'running', locked_by = ${holder}, locked_at = now() - ${seconds} * interval '1 s', started_at = now()`.execute(
          database.db,
        );
        expect(await recoverTasks(database.db, { batch: 250, keep: KEEP })).toMatchObject({
          requeued: seconds === over ? 1 : 0,
        });
      }
    },
  );
});
