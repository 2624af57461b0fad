import { useTestDatabase } from '@paddock/testing/use-test-database';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type ControlledTransaction, sql } from 'kysely';
import {
  readScheduleTimes,
  takeExtraPasses,
  takeTick,
  type WantedPasses,
  wantExtraPasses,
} from './schedules.ts';
import type { Database } from '../schema/tables.ts';

const NAME = 'sweep:1';

const database = useTestDatabase();
/**
 * In a transaction PostgreSQL's clock stands still: checks of seconds are exact, even on a busy
 * machine.
 */
let instant: ControlledTransaction<Database>;

beforeEach(async () => {
  const { db } = database;
  await db.deleteFrom('schedules').execute();
  await db.transaction().execute((trx) => takeTick(trx, { name: NAME, tickAt: new Date(0) }));
  instant = await db.startTransaction().execute();
});
afterEach(() => instant.rollback().execute());

const want = (more: Omit<WantedPasses, 'schedule'> = {}) =>
  wantExtraPasses(instant, { schedule: NAME, ...more });
const take = () => takeExtraPasses(instant, [NAME]);
const nextInSeconds = async () => {
  const { extraInMs } = await readScheduleTimes(instant, [NAME]);
  return extraInMs === null ? null : Math.round(extraInMs / 1_000);
};
const pass = (seconds: number) =>
  sql`update schedules set extra_at = extra_at - ${seconds} * interval '1 second',
    extra_until = extra_until - ${seconds} * interval '1 second',
    extra_since = extra_since - ${seconds} * interval '1 second'`.execute(instant);

describe('an extra pass (E1, E9)', () => {
  test('is due at once, and taken once', async () => {
    expect(await nextInSeconds()).toBeNull();
    await want();
    expect(await nextInSeconds()).toBe(0);
    expect([await take(), await take()]).toEqual([[NAME], []]);
    expect(await nextInSeconds()).toBeNull();
  });

  test('is followed by others, four seconds apart, until the time that was wanted', async () => {
    await want({ forMs: 12_000 });
    const waits: (number | null)[] = [];
    for (let round = 0; round < 4; round++) {
      expect(await take()).toEqual([NAME]);
      const next = await nextInSeconds();
      waits.push(next);
      await pass(next ?? 0);
    }
    expect(waits).toEqual([4, 4, 4, null]);
  });

  test('is the further from the last one the longer trouble lasts, a minute at most, and the first after a rest is at once', async () => {
    const takenIn = async (minutes: number) => {
      let count = 0;
      for (let step = 0; step < minutes * 3; step++) {
        await want({ forMs: 12_000 });
        count += (await take()).length;
        await pass(20);
      }
      return count;
    };
    await takenIn(15);
    const later = await takenIn(20);
    expect(later).toBeGreaterThanOrEqual(15);
    expect(later).toBeLessThanOrEqual(20);
    await pass(60);
    // The last request has its pass, and there is no more.
    expect(await take()).toEqual([NAME]);
    expect(await nextInSeconds()).toBeNull();
    // Trouble with pauses is the same trouble: there is a minute between two passes also where none
    // was wanted in between.
    await want({ forMs: 12_000 });
    expect(await nextInSeconds()).toBe(60);
    await pass(200);
    await take();
    await pass(200);
    await want({ forMs: 12_000 });
    expect(await take()).toEqual([NAME]);
    expect(await nextInSeconds()).toBe(4);
  });
});
