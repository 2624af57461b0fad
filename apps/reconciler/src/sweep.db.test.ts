import { findPassMemory } from '@paddock/db/schedules/sweep-states';
import { EVERY_SWEEP, liftSwitch, setSwitch } from '@paddock/db/switches';
import { runDueTasks } from '@paddock/queue/scenes/run-due-tasks.scene';
import { enqueueAlone } from '@paddock/queue/enqueue';
import { done, type Outcome } from '@paddock/queue/kind';
import { emptyTables, useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { usualContext } from './scenes/sweep.scene.ts';
import { kindsOf, type Sweep } from './sweep.ts';
import { sweepTask } from '@paddock/queue/sweep-schedules';

const database = useTestDatabase();
/** The options of the passes, by sweep. */
let passes: string[];

beforeEach(async () => {
  await emptyTables(database.db, ['switches', 'tasks', 'operations']);
  passes = [];
});

const noting = (name: string): Sweep => ({
  slots: 1,
  pass: (_context, { dryRun }) => {
    passes.push(dryRun ? `${name} dry` : name);
    return Promise.resolve(done({ found: 3 }));
  },
});

/** Works until it is stopped. */
const untilStopped = (name: string, end: (signal: AbortSignal) => Outcome): Sweep => ({
  slots: 1,
  pass: async (_context, { signal }) => {
    passes.push(name);
    await once(signal, 'abort');
    return end(signal);
  },
});

const SWEEPS: Record<string, Sweep> = {
  mow: noting('mow'),
  rake: noting('rake'),
  'delete-ended-pods': noting('delete-ended-pods'),
  /** It has work left when it is stopped. */
  plough: untilStopped('plough', () => done({ found: 2 }, [sweepTask('plough')])),
  /** Its calls fail when they are stopped. */
  sow: untilStopped('sow', (signal) => {
    throw signal.reason;
  }),
};

/** Runs a task of each name; answers the outputs in the same order. */
async function run(names: readonly string[], payload: object = {}): Promise<unknown[]> {
  const { db } = database;
  await db.deleteFrom('operations').execute();
  const tasks = names.map((name) => ({ ...sweepTask(name), payload }));
  await enqueueAlone(db, tasks);
  await runDueTasks({
    db,
    kinds: kindsOf(usualContext(db), SWEEPS, 10),
  });
  const rows = await db.selectFrom('operations').select(['kind', 'status', 'output']).execute();
  return names.map((name) => rows.find((row) => row.kind === name && row.status === 'OK')?.output);
}

describe('the switch of a sweep (E6)', () => {
  test('holds one sweep back from its next pass on, says so in its operation, and ends with its row', async () => {
    expect(await run(['mow', 'rake'])).toEqual([{ found: 3 }, { found: 3 }]);
    await setSwitch(database.db, 'mow', 'ada');
    await setSwitch(database.db, 'mow', 'bob');
    const paused = { paused: 'mow', pausedBy: 'ada', pausedAt: expect.any(String) };
    expect(await run(['mow', 'rake'])).toEqual([paused, { found: 3 }]);
    // Two kinds run side by side, in any order.
    expect(passes.toSorted()).toEqual(['mow', 'rake', 'rake']);
    await liftSwitch(database.db, 'mow');
    expect(await run(['mow'])).toEqual([{ found: 3 }]);
  });

  test('of all sweeps holds each one back, and one sweep’s own pause outlives it', async () => {
    await setSwitch(database.db, EVERY_SWEEP, 'ada');
    await setSwitch(database.db, 'rake', 'bob');
    expect(await run(['mow', 'rake'])).toMatchObject([{ pausedBy: 'ada' }, { paused: 'sweeps' }]);
    expect(passes).toEqual([]);
    await liftSwitch(database.db, EVERY_SWEEP);
    expect(await run(['mow', 'rake'])).toMatchObject([{ found: 3 }, { pausedBy: 'bob' }]);
  });

  test.each([
    ['plough', { found: 2 }],
    ['sow', {}],
  ])(
    'stops a pass of %s that is at work, with its work so far; no task follows it',
    async (name, counts) => {
      const running = run([name]);
      await waitFor('the pass', () => passes.length > 0);
      await setSwitch(database.db, name, 'ada');
      expect(await running).toEqual([
        { paused: name, pausedBy: 'ada', pausedAt: expect.any(String), ...counts },
      ]);
      expect(await database.db.selectFrom('tasks').select('kind').execute()).toEqual([]);
    },
  );

  test('that cannot be read stops a pass that is at work: it fails, to be tried again', async () => {
    const running = run(['plough']);
    await waitFor('the pass', () => passes.length > 0);
    await sql`alter table switches rename to mislaid`.execute(database.db);
    expect(await running).toEqual([undefined]);
    await sql`alter table mislaid rename to switches`.execute(database.db);
    expect(await database.db.selectFrom('tasks').select(['kind', 'status']).execute()).toEqual([
      { kind: 'plough', status: 'queued' },
    ]);
  });

  test('is of no concern to a dry run', async () => {
    await setSwitch(database.db, EVERY_SWEEP, 'ada');
    expect(await run(['delete-ended-pods'], { dryRun: true })).toMatchObject([{ found: 3 }]);
    expect(passes).toEqual(['delete-ended-pods dry']);
  });
});

test('a pass that a person or an outage ended is no success; the latter is followed by another in a moment', async () => {
  const { db } = database;
  const away: Sweep = {
    slots: 1,
    pass: async (_context, { isAway }) => {
      await isAway('github');
      return done();
    },
  };
  const names = ['plough', 'away'] as const;
  const epoch = new Date(0);
  for (const name of names)
    await db
      .insertInto('schedules')
      .values({ name, last_tick_at: new Date(), succeeded_at: epoch })
      .execute();
  const stopped = run(['plough']);
  await waitFor('the pass', () => passes.length > 0);
  await setSwitch(db, 'plough', 'ada');
  await stopped;
  await enqueueAlone(db, [sweepTask('away')]);
  const context = { ...usualContext(db), isAway: () => Promise.resolve(true) };
  await runDueTasks({ db, kinds: kindsOf(context, { away }) });
  const schedules = db.selectFrom('schedules').select('succeeded_at');
  expect(await schedules.execute()).toEqual(names.map(() => ({ succeeded_at: epoch })));
  const again = db.selectFrom('tasks').select(['kind', 'status']);
  expect(await again.execute()).toEqual([{ kind: 'away', status: 'queued' }]);
  await db.deleteFrom('schedules').execute();
});

test('a pass that goes on after another process took its task over leaves nothing: what the other has told is not told again (C6, D8)', async () => {
  const { db } = database;
  const row = { name: 'mow', last_tick_at: new Date(), succeeded_at: new Date(0) };
  await db.insertInto('schedules').values(row).execute();
  const held = Promise.withResolvers<void>();
  const mow: Sweep = {
    slots: 1,
    async pass(_context, pass) {
      const nth = passes.push('mow');
      pass.note('told', [`by pass ${nth}`]);
      if (nth === 1) await held.promise;
      return done();
    },
  };
  const drain = () => runDueTasks({ db, kinds: kindsOf(usualContext(db), { mow }) });
  const left = () => findPassMemory(db, 'mow').then(({ seen }) => Object.keys(seen['told'] ?? {}));
  await enqueueAlone(db, [sweepTask('mow')]);
  const stalled = drain();
  await waitFor('the pass', () => passes.length > 0);
  await sql`update tasks set locked_until = now() - interval '1 second'`.execute(db);
  await drain();
  expect(await left()).toEqual(['by pass 2']);
  await sql`update schedules set succeeded_at = 'epoch'`.execute(db);
  held.resolve();
  await stalled;
  expect(await left()).toEqual(['by pass 2']);
  const schedules = db.selectFrom('schedules').select('succeeded_at').where('name', '=', 'mow');
  expect(await schedules.execute()).toEqual([{ succeeded_at: new Date(0) }]);
  await db.deleteFrom('schedules').execute();
});

describe('a dry run', () => {
  test('is requested by the payload, and says so in its output', async () => {
    expect(await run(['delete-ended-pods'], { dryRun: true })).toEqual([
      { dryRun: true, found: 3 },
    ]);
    expect(await run(['delete-ended-pods'], { dryRun: 'yes' })).toEqual([{ found: 3 }]);
  });

  test('that a person asks for knows what earlier passes have seen, and leaves nothing', async () => {
    const { db } = database;
    const kind = 'delete-ended-pods';
    await db.insertInto('schedules').values({ name: kind, last_tick_at: new Date() }).execute();
    const sweep: Sweep = {
      slots: 1,
      pass(_context, pass) {
        passes.push(pass.known('list').join(' '));
        pass.note('list', [`seen by pass ${passes.length}`]);
        return Promise.resolve(done());
      },
    };
    const trial = { kind, subject: { type: 'dry-run', id: kind }, payload: { dryRun: true } };
    for (const task of [sweepTask(kind), trial, trial]) {
      await enqueueAlone(db, [task]);
      await runDueTasks({ db, kinds: kindsOf(usualContext(db), { [kind]: sweep }) });
    }
    expect(passes).toEqual(['', 'seen by pass 1', 'seen by pass 1']);
    await db.deleteFrom('schedules').execute();
  });

  test('of a sweep that deletes nothing at GitHub or in the cluster ends as failed, without a pass', async () => {
    expect(await run(['rake'], { dryRun: true })).toEqual([undefined]);
    expect(passes).toEqual([]);
  });
});
