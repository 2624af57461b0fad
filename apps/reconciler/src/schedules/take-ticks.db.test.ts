import { wantExtraPasses } from '@paddock/db/schedules/schedules';
import { done } from '@paddock/queue/kind';
import { runDueTasks } from '@paddock/queue/scenes/run-due-tasks.scene';
import { emptyTables, useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Db } from '@paddock/db/schema/tables';
import { sql } from 'kysely';
import { createSchedules } from './take-ticks.ts';
import type { Schedule } from '@paddock/queue/sweep-schedules';

const database = useTestDatabase();
beforeEach(async () => {
  await emptyTables(database.db, ['schedules', 'tasks', 'operations']);
});

const DAILY: Schedule = {
  name: 'sweep',
  everySeconds: 86_400,
  task: { kind: 'sweep', subject: { type: 'schedule', id: 'sweep' } },
};

function replica(
  schedules: readonly Schedule[] = [DAILY],
  { db = database.dbOf('reconciler'), ...looks }: { lookMs?: number; db?: Db } = {},
) {
  const seen = { taken: [] as string[], ticks: [] as number[], missed: 0, errors: [] as unknown[] };
  const events = {
    tickTaken: (name: string, tickAt: Date, missed: number) => {
      seen.taken.push(name);
      seen.ticks.push(tickAt.getTime());
      seen.missed += missed;
    },
    scheduleFailed: (error: unknown) => void seen.errors.push(error),
  };
  return { ...createSchedules({ db, schedules: () => schedules, events, ...looks }), seen };
}

const tasks = () =>
  database.db.selectFrom('tasks').select(['kind', 'subject_id', 'status']).execute();

const operations = () => database.db.selectFrom('operations').select('queued_at').execute();

describe('schedules (E9, D10)', () => {
  test('go on after PostgreSQL’s clock was a year ahead for a time', async () => {
    let aheadMs = 365 * 86_400_000;
    const ahead = ({ now, ...row }: Record<string, unknown>) =>
      now instanceof Date ? { ...row, now: new Date(now.getTime() + aheadMs) } : { ...row, now };
    const db = database.dbOf('reconciler').withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: ({ result }) =>
        Promise.resolve({ ...result, rows: result.rows.map((row) => ahead(row)) }),
    });
    const { once, seen } = replica([DAILY], { db });
    expect(await once()).toBe(1);
    aheadMs = 0;
    expect([await once(), await once()]).toEqual([1, 0]);
    expect(seen.errors).toEqual([]);
  });

  test('of two replicas one takes a tick, and a tick is taken once however often it is looked for', async () => {
    const [one, two] = [replica(), replica()];
    const counts = await Promise.all([one.once(), two.once(), two.once(), one.once()]);
    expect(counts.reduce((sum, count) => sum + count)).toBe(1);
    expect(await one.once()).toBe(0);
    expect(await replica().once()).toBe(0);
    expect(await tasks()).toEqual([{ kind: 'sweep', subject_id: 'sweep', status: 'queued' }]);
  });

  test('missed ticks are counted', async () => {
    await replica().once();
    const { db } = database;
    await sql`update schedules set last_tick_at = last_tick_at - interval '4 days'`.execute(db);
    const late = replica();
    expect(await late.once()).toBe(1);
    expect(late.seen.missed).toBe(3);
  });

  test('a tick without its task, or a task without its tick, cannot be', async () => {
    const broken = replica([{ ...DAILY, task: { ...DAILY.task, dueInMs: Number.NaN } }]);
    await expect(broken.once()).rejects.toMatchObject({ code: '22P02' });
    expect(await database.db.selectFrom('schedules').selectAll().execute()).toEqual([]);
    expect(await replica().once()).toBe(1);
  });

  test('two replicas take the ticks of a second once between them, when node-cron rings', async () => {
    const everySecond: Schedule = { ...DAILY, everySeconds: 1 };
    // After its first look neither looks by itself for as long as the test may take.
    const replicas = [0, 1].map(() => replica([everySecond], { lookMs: 3_600_000 }));
    const stop = new AbortController();
    const running = replicas.map(({ run }) => run(stop.signal));
    const kinds = { sweep: { slots: 1, handler: async () => Promise.resolve(done()) } };
    await waitFor('three runs', async () => {
      await runDueTasks({ db: database.dbOf('reconciler'), kinds });
      return (await operations()).length >= 3;
    });
    stop.abort();
    await Promise.all(running);
    // On a busy machine two ticks may find the same waiting task, and make one run.
    const ticks = replicas.flatMap(({ seen }) => seen.ticks);
    const made = [...(await operations()), ...(await tasks())];
    expect(ticks.length).toBeGreaterThanOrEqual(made.length);
    expect(ticks).toHaveLength(new Set(ticks).size);
    expect(replicas.flatMap(({ seen }) => seen.errors)).toEqual([]);
  });

  test('an extra pass is enqueued once, by one of the replicas, and its ticks stay; its task that is queued for later comes now', async () => {
    const [one, two] = [replica(), replica()];
    await one.once();
    await sql`update tasks set due_at = now() + interval '1 hour'`.execute(database.db);
    await wantExtraPasses(database.db, { schedule: 'sweep' });
    await Promise.all([one.once(), two.once()]);
    const { rows } = await sql`select due_at <= now() as "isDue" from tasks`.execute(database.db);
    expect(rows).toEqual([{ isDue: true }]);
    expect([...one.seen.taken, ...two.seen.taken]).toEqual(['sweep']);
  });

  test('an extra pass that is wanted in a moment comes by itself, without a ring and before the next look', async () => {
    const one = replica([DAILY], { lookMs: 3_600_000 });
    await one.once();
    await database.db.deleteFrom('tasks').execute();
    await wantExtraPasses(database.db, { schedule: 'sweep', inMs: 500 });
    const stop = new AbortController();
    const running = one.run(stop.signal);
    await waitFor('the extra pass', async () => (await tasks()).length === 1);
    stop.abort();
    await running;
    expect(one.seen).toMatchObject({ taken: ['sweep'], missed: 0, errors: [] });
  });
});
