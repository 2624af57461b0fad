import { beforeEach, describe, expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { type Kysely, sql } from 'kysely';
import { installationBreaker, registrationBreakers } from './breaker-subjects.ts';
import { noteSuccess, passBreakers } from './breakers.ts';
import type { Database } from '../schema/tables.ts';
import { type BegunWait, createWaits, type Waits } from './waits.ts';

const database = useTestDatabase();
let begun: BegunWait[];
/** As two processes have them. */
let here: Waits;
let there: Waits;
beforeEach(async () => {
  await database.db.deleteFrom('breakers').execute();
  begun = [];
  [here, there] = [
    createWaits(database.db, (wait) => void begun.push(wait)),
    createWaits(database.db, (wait) => void begun.push(wait)),
  ];
});

const ENTITY = { entityId: 7 };
const MINUTE = { ms: 60_000, message: 'slow down' };
const isBound = async (caller: Parameters<Waits['left']>[0], resource = 'core') =>
  (await there.left(caller, resource)) !== undefined;
const setOver = (ago = '1 second') =>
  database.db
    .updateTable('breakers')
    .set({ paused_until: sql`now() - ${ago}::interval` })
    .execute();

describe('a wait that one process has stored binds all', () => {
  test('of its entity alone, in all calls', async () => {
    expect(await there.left(ENTITY, 'core')).toBeUndefined();
    await here.note(ENTITY, MINUTE);
    const left = await there.left(ENTITY, 'core');
    expect(left).toEqual({ ms: expect.any(Number), message: 'slow down' });
    expect(left?.ms).toBeGreaterThan(50_000);
    expect(left?.ms).toBeLessThanOrEqual(60_000);
    expect(await isBound(ENTITY, 'actions_runner_registration')).toBe(true);
    expect([await isBound({ entityId: 8 }), await isBound({ appId: 7 })]).toEqual([false, false]);
  });

  test('in the calls that count against a budget that is used up, and no others', async () => {
    await here.note({ appId: 7 }, { ...MINUTE, resource: 'core' });
    expect([
      await isBound({ appId: 7 }),
      await isBound({ appId: 7 }, 'search'),
      await isBound(ENTITY),
    ]).toEqual([true, false, false]);
  });

  test('until the second that was named, and leaves nothing behind', async () => {
    await here.note(ENTITY, MINUTE);
    await here.note(ENTITY, { ...MINUTE, resource: 'core' });
    await setOver();
    expect(await isBound(ENTITY)).toBe(false);
    expect(await database.db.selectFrom('breakers').selectAll().execute()).toEqual([]);
  });

  test('until people end it', async () => {
    await here.note(ENTITY, MINUTE);
    await database.db.deleteFrom('breakers').execute();
    expect([await here.left(ENTITY, 'core'), await there.left(ENTITY, 'core')]).toEqual([
      undefined,
      undefined,
    ]);
  });
});

describe('the longest wait wins', () => {
  test('in any order of the answers', async () => {
    await here.note(ENTITY, { ...MINUTE, ms: 600_000 });
    await there.note(ENTITY, MINUTE);
    expect((await here.left(ENTITY, 'core'))?.ms).toBeGreaterThan(500_000);
    await there.note(ENTITY, { ...MINUTE, ms: 900_000 });
    expect((await here.left(ENTITY, 'core'))?.ms).toBeGreaterThan(800_000);
  });

  test('and no success shortens it', async () => {
    await here.note(ENTITY, MINUTE);
    await noteSuccess(database.db, registrationBreakers({ appId: 1, entityId: 7, scopeRepoId: 0 }));
    expect(await isBound(ENTITY)).toBe(true);
  });

  test('and its beginning is reported once', async () => {
    await here.note(ENTITY, MINUTE);
    await there.note(ENTITY, MINUTE);
    await there.note(ENTITY, { ...MINUTE, ms: 90_000 });
    expect(begun).toMatchObject([
      { subject: { type: 'installation', id: '7' }, ms: 60_000, message: 'slow down' },
    ]);
    await setOver();
    await there.note(ENTITY, MINUTE);
    expect(begun).toHaveLength(2);
  });
});

test('a wait opens no breaker and needs no trial', async () => {
  await here.note(ENTITY, MINUTE);
  expect(await passBreakers(database.db, [installationBreaker(7)])).toEqual({
    waitMs: 0,
    message: '',
    isWatched: false,
  });
});

/** Rejects every statement while `isAway`. */
const failing = (db: Kysely<Database>, isAway: () => boolean): Kysely<Database> =>
  db.withPlugin({
    transformQuery: ({ node }) => {
      if (isAway()) throw new Error('PostgreSQL is away');
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  });

describe('while PostgreSQL is away', () => {
  test('a wait is noted without an error; no call is made until it is written', async () => {
    let isAway = true;
    const waits = createWaits(
      failing(database.db, () => isAway),
      (wait) => void begun.push(wait),
    );
    await waits.note(ENTITY, MINUTE);
    await expect(waits.left(ENTITY, 'core')).rejects.toThrow('PostgreSQL is away');
    isAway = false;
    expect(await isBound(ENTITY)).toBe(false);
    expect((await waits.left(ENTITY, 'core'))?.message).toBe('slow down');
    expect([await isBound(ENTITY), begun.length]).toEqual([true, 1]);
  });
});
