import { randomUUID } from 'node:crypto';
import { findPassMemory, hasMissed, notePass } from '@paddock/db/schedules/sweep-states';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import type { Service } from '@paddock/runtime/reach';
import { beginByHand } from '../scenes/sweep.scene.ts';
import type { PassOptions, Turn } from './pass.ts';

const database = useTestDatabase();
const SCHEDULE = 'mow';

beforeEach(async () => {
  await database.db.deleteFrom('schedules').execute();
  await database.db
    .insertInto('schedules')
    .values({ name: SCHEDULE, last_tick_at: new Date() })
    .execute();
});

/** The claim on the task of a pass. */
async function claim() {
  const task = { kind: SCHEDULE, subject_type: 'schedule', subject_id: randomUUID() };
  const at = new Date();
  const held = { status: 'running' as const, locked_by: 'mower', locked_until: at, started_at: at };
  const row = { ...task, ...held, max_attempts: 1 };
  const tasks = database.db.insertInto('tasks').values(row).returning(['id', 'fence']);
  return tasks.executeTakeFirstOrThrow();
}

const yes = () => Promise.resolve(true);

/** Runs one pass over objects `ENTITY OBJECT`; stores what it leaves. */
async function pass(
  objects: readonly string[],
  visit: (object: string, turn: Turn) => boolean | 'unasked' | 'away' | Promise<boolean>,
  given: Partial<PassOptions> & {
    postpone?: (object: string) => void;
    waitsForTick?: boolean;
  } = {},
) {
  const { postpone, waitsForTick, ...more } = given;
  const db = database.dbOf('reconciler');
  const visited: string[] = [];
  const { pass: begun, end } = await beginByHand(db, { schedule: SCHEDULE, isAway: yes, ...more });
  await begun.walk(objects, {
    entityOf: (object) => object.split(' ')[0] ?? '',
    ...(waitsForTick && { waitsForTick }),
    ...(postpone === undefined
      ? { keyOf: (object: string) => object }
      : { postpone: (object: string) => Promise.resolve(postpone(object)) }),
    async visit(object, turn) {
      visited.push(object);
      const result = await visit(object, turn);
      turn.isUnasked = result === 'unasked';
      if (result === 'away') await begun.isAway('github');
      return result === true;
    },
  });
  const { endedBy, memory } = end();
  const task = await claim();
  await notePass(db, SCHEDULE, { memory, isSuccess: endedBy === undefined, task });
  return { visited, endedBy, hasMissed: hasMissed(memory) };
}

const letPass = (minutes: number) =>
  sql`update schedules set last_pass = jsonb_set(last_pass, '{failing}', (
    select coalesce(jsonb_object_agg(key, value || jsonb_build_object('dueAt', (value ->> 'dueAt')::float8 - ${minutes}::float8 * 60000,
      'since', (value ->> 'since')::float8 - ${minutes}::float8 * 60000)), '{}') from jsonb_each(last_pass -> 'failing')))`.execute(
    database.db,
  );
const fine = () => true;

test('entities take turns, each with its objects in the order of their due times (E2)', async () => {
  const { visited } = await pass(['acme 1', 'acme 2', 'acme 3', 'mona 1', 'ada 1', 'ada 2'], fine);
  expect(visited).toEqual(['acme 1', 'mona 1', 'ada 1', 'acme 2', 'ada 2', 'acme 3']);
});

describe('an object that fails', () => {
  test('is due twice as late each time, within an hour, and at once after a success; others are not', async () => {
    const waits: number[] = [];
    for (let time = 0; time < 8; time++) {
      const { visited } = await pass(['acme 1', 'acme 2'], (object) => object === 'acme 2');
      expect(visited).toEqual(['acme 1', 'acme 2']);
      const { failing, now } = await findPassMemory(database.db, SCHEDULE);
      expect(Object.keys(failing)).toEqual(['acme 1']);
      waits.push(Math.round(((failing['acme 1']?.dueAt ?? 0) - now) / 60_000));
      expect((await pass(['acme 1', 'acme 2'], fine)).visited).toEqual(['acme 2']);
      await letPass(60);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 55, 55]);
    await pass(['acme 1'], fine);
    expect((await findPassMemory(database.db, SCHEDULE)).failing).toEqual({});
  });

  test('is due where a wrong clock wrote that it is not: no wait is longer than an hour', async () => {
    await pass(['acme 1', 'acme 2'], () => false);
    await letPass(-55);
    expect((await pass(['acme 1'], fine)).visited).toEqual([]);
    await letPass(-5);
    expect((await pass(['acme 1', 'acme 2'], fine)).visited).toEqual(['acme 1', 'acme 2']);
  });

  test('has failed long after three times over an hour', async () => {
    const seen: boolean[] = [];
    for (let time = 0; time < 5; time++) {
      await pass(['acme'], (_object, { hasFailedLong }) => {
        seen.push(hasFailedLong);
        return false;
      });
      await letPass(25);
    }
    expect(seen).toEqual([false, false, false, true, true]);
  });

  test('has failed long after that though a wrong clock wrote that it began tomorrow', async () => {
    const seen: boolean[] = [];
    await pass(['acme'], () => false);
    await letPass(-1_440);
    for (let time = 0; time < 4; time++) {
      await pass(['acme'], (_object, { hasFailedLong }) => {
        seen.push(hasFailedLong);
        return false;
      });
      await letPass(25);
    }
    expect(seen).toEqual([false, false, false, true]);
  });

  test('with a row of its own is postponed there, and nothing is kept here', async () => {
    const postponed: string[] = [];
    await pass(['acme 1', 'mona 1'], (object) => object === 'mona 1', {
      postpone: (object) => void postponed.push(object),
    });
    expect(postponed).toEqual(['acme 1']);
    expect((await findPassMemory(database.db, SCHEDULE)).failing).toEqual({});
  });

  test('is not at fault if it was not asked about, in a dry run, or if the service is away', async () => {
    await pass(['acme 1'], () => 'unasked');
    await pass(['acme 1'], () => false, { dryRun: true });
    await pass(['acme 1'], () => 'away');
    expect((await findPassMemory(database.db, SCHEDULE)).failing).toEqual({});
  });

  test('because PostgreSQL cannot store what is said of it is late and told, and others go on (P6)', async () => {
    const told: string[] = [];
    const bad = Object.assign(new Error('invalid input syntax'), { code: '22007' });
    const errors: Record<string, Error> = { 'acme 1': bad, 'bob 1': new TypeError('a bigint') };
    const { visited } = await pass(
      ['acme 1', 'bob 1', 'cat 1'],
      (object) => {
        const error = errors[object];
        return error === undefined || Promise.reject(error);
      },
      { onUnusable: (object) => void told.push(object) },
    );
    expect([visited, told]).toEqual([
      ['acme 1', 'bob 1', 'cat 1'],
      ['acme 1', 'bob 1'],
    ]);
    const { failing } = await findPassMemory(database.db, SCHEDULE);
    expect(Object.keys(failing).toSorted()).toEqual(['acme 1', 'bob 1']);
  });
});

describe('a pass ends', () => {
  test('when the service is away by our own probe, and never by the number of failures', async () => {
    const asked: Service[] = [];
    const isAway = (service: Service) => {
      asked.push(service);
      return Promise.resolve(asked.length === 2);
    };
    const objects = Array.from({ length: 10 }, (_, n) => `acme ${n}`);
    const { visited, endedBy } = await pass(
      objects,
      (object) => (object === 'acme 3' || object === 'acme 7' ? ('away' as const) : false),
      { isAway },
    );
    expect([visited.length, endedBy]).toEqual([8, 'away']);
  });

  test('at its share of time; the next one begins with the entities that it did not reach, and two that miss one tell', async () => {
    let now = 0;
    const slow = (object: string) => {
      now += 40;
      return object !== '';
    };
    const more = { clock: () => now, shareMs: 100 };
    const objects = ['acme 1', 'acme 2', 'bob 1', 'cat 1', 'dan 1'];
    const first = await pass(objects, slow, more);
    expect(first).toMatchObject({ visited: ['acme 1', 'bob 1', 'cat 1'], endedBy: 'time' });
    expect(first.hasMissed).toBe(false);
    const { visited, hasMissed: missed } = await pass(objects, slow, more);
    expect([visited, missed]).toEqual([['dan 1', 'acme 1', 'bob 1'], false]);
    const slower = { clock: () => now, shareMs: 30 };
    await pass(objects, slow, slower);
    expect((await pass(objects, slow, slower)).hasMissed).toBe(true);
    expect(await pass(objects, slow)).toMatchObject({ endedBy: undefined, hasMissed: false });
  });

  test('at its share of time, and no pass follows before the tick where visits leave no mark: they would go on without end', async () => {
    let now = 0;
    const slow = () => (now += 40) > 0;
    const more = { clock: () => now, shareMs: 30, waitsForTick: true };
    const objects = ['acme 1', 'bob 1'];
    for (const visited of [['acme 1'], ['bob 1'], ['acme 1']])
      expect(await pass(objects, slow, more)).toMatchObject({ visited, endedBy: undefined });
  });

  test('when it is told to stop, and counts no failure', async () => {
    const signal = AbortSignal.abort();
    const { visited, endedBy } = await pass(['acme 1'], fine, { signal });
    expect([visited, endedBy]).toEqual([[], 'stopped']);
    expect((await findPassMemory(database.db, SCHEDULE)).unreached).toEqual({});
  });

  test('with the error of a visit that throws, once the visits beside it are over', async () => {
    const objects = ['acme 1', 'bob 1', 'cat 1'];
    await expect(
      pass(objects, () => Promise.reject(new Error('connection lost')), { atOnce: 2 }),
    ).rejects.toThrow('connection lost');
  });
});

test('what a list shows since tomorrow, by a wrong clock, it shows since now (E6)', async () => {
  const tomorrow = Date.now() + 86_400_000;
  const last_pass = JSON.stringify({ seen: { runners: { left: tomorrow } } });
  await database.db.updateTable('schedules').set({ last_pass }).execute();
  const { pass: begun, end } = await beginByHand(database.db, { schedule: SCHEDULE });
  expect(begun.note('runners', ['left']).get('left')).toBe(0);
  expect(end().memory.seen['runners']?.['left']).toBeLessThan(tomorrow - 3_600_000);
});
