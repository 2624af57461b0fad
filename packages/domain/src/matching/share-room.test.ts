import { describe, expect, test } from '@jest/globals';
import { fc } from '@paddock/testing/random-cases';
import {
  type LiveWorkers,
  type Room,
  type Sharing,
  type Shortage,
  shareRoom,
} from './share-room.ts';

describe('shareRoom', () => {
  test('an entity spends its cap on the repository that has the fewest workers already, though its jobs are younger (C4)', () => {
    const live = [{ demandKey: 1, entityId: ACME, scopeRepoId: 21, pool: 'linux', alive: 2 }];
    const shares = share(
      [shortage(1, { scopeRepoId: 21 }), shortage(2, { scopeRepoId: 22 })],
      { entities: { [ACME]: 1 } },
      { live },
    );
    expect(madeOf(shares)).toEqual({ 2: 1 });
  });

  test('spends an entity’s cap on its oldest jobs, in any pool (C4)', () => {
    const shortages = [
      shortage(1, { lacking: 3, jobTimes: [10, 40, 50] }),
      shortage(2, { pool: 'gpu', lacking: 3, jobTimes: [20, 30, 60] }),
    ];
    expect(madeOf(share(shortages, { entities: { [ACME]: 3 } }))).toEqual({ 1: 1, 2: 2 });
  });

  test('leaves the last place to the lower key where both jobs have one age, in any order of the keys (C4)', () => {
    const shortages = [2, 1].map((key) => shortage(key, { entityId: key, jobTimes: [5] }));
    expect(madeOf(share(shortages, { pools: { linux: 1 } }))).toEqual({ 1: 1 });
  });

  test('makes at most a given number at once, and says how many would be allowed (C4)', () => {
    const shares = share(
      [shortage(1, { lacking: 5 }), shortage(2, { entityId: GLOBEX, lacking: 5 })],
      {},
      { most: 4 },
    );
    expect(madeOf(shares)).toEqual({ 1: 2, 2: 2 });
    expect(shares.get(1)?.allowed).toBe(4);
  });

  test('keeps to every cap, leaves no room unused, and gives no entity more of a full pool than its share (C4, C5)', () => {
    fc.assert(
      fc.property(situations(), ({ shortages, live, caps, weights }) => {
        const common = caps.common === undefined ? NONE : asOne(1);
        const shares = share(shortages, caps, { live, weights, common });
        const made = madeAmong(shortages, shares);
        const room = roomOf(caps);
        const ofCommon = made(({ entityId }) => COMMON.has(entityId));
        expect(ofCommon).toBeLessThanOrEqual(caps.common ?? Infinity);
        for (const one of shortages) {
          const own = made(({ demandKey }) => demandKey === one.demandKey);
          const ofEntity = made(({ entityId }) => entityId === one.entityId);
          const ofPool = made(({ pool }) => pool === one.pool);
          const most = Math.min(one.lacking, room.key(one));
          expect(own).toBeLessThanOrEqual(most);
          expect(ofEntity).toBeLessThanOrEqual(room.entity(one.entityId));
          expect(ofPool).toBeLessThanOrEqual(room.pool(one.pool));
          const isFull =
            own === most ||
            ofEntity === room.entity(one.entityId) ||
            (COMMON.has(one.entityId) && ofCommon === caps.common);
          // Work conserving: who could have more is kept from it by the pool alone, and then no
          // other entity is further ahead there.
          if (isFull) continue;
          expect(ofPool).toBe(room.pool(one.pool));
          if (caps.common !== undefined) continue;
          const has = (entityId: number) => {
            const isHere = (other: { entityId: number; pool: string }) =>
              other.entityId === entityId && other.pool === one.pool;
            const before = live.filter(isHere).reduce((sum, { alive }) => sum + alive, 0);
            const now = made(isHere);
            return { now, level: (before + now) / (weights[entityId] ?? 1) };
          };
          const ahead = shortages.filter(({ pool, entityId }) => {
            if (pool !== one.pool || entityId === one.entityId) return false;
            const { now, level } = has(entityId);
            return now > 0 && level - 1 / (weights[entityId] ?? 1) > has(one.entityId).level + 1e-9;
          });
          expect(ahead).toEqual([]);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test('gives the same as making one worker after the other for the entity with the least, when one pool binds (C4)', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(12), { minLength: 1, maxLength: 6 }),
        fc.nat(30),
        fc.array(fc.integer({ min: 1, max: 5 })),
        (lacks, room, w) => {
          const shortages = lacks.map((lacking, index) =>
            shortage(index, { entityId: index, lacking: lacking + 1 }),
          );
          const weights = Object.fromEntries(lacks.map((_, index) => [index, w[index] ?? 1]));
          const shares = share(shortages, { pools: { linux: room } }, { weights });
          const expected = oneByOne(shortages, room, weights);
          expect(shortages.map(({ demandKey }) => shares.get(demandKey)?.made ?? 0)).toEqual(
            expected,
          );
        },
      ),
    );
  });
});

const madeAmong =
  (shortages: readonly Shortage[], shares: ReturnType<typeof shareRoom>) =>
  (of: (one: Shortage) => boolean) =>
    shortages
      .filter(of)
      .reduce((sum, { demandKey }) => sum + (shares.get(demandKey)?.made ?? 0), 0);

/**
 * The rule in its simplest form: one worker at a time, for the entity with the fewest per weight.
 */
function oneByOne(
  shortages: readonly Shortage[],
  room: number,
  weights: Readonly<Record<number, number>>,
): number[] {
  const made = shortages.map(() => 0);
  const level = (index: number) => (made[index] ?? 0) / (weights[index] ?? 1);
  for (let left = room; left > 0; left -= 1) {
    const open = shortages
      .map((_, index) => index)
      .filter((index) => (made[index] ?? 0) < (shortages[index]?.lacking ?? 0));
    const next = open.toSorted((a, b) => level(a) - level(b) || a - b)[0];
    if (next === undefined) break;
    made[next] = (made[next] ?? 0) + 1;
  }
  return made;
}

describe('shareRoom among entities that share one cap', () => {
  test('gives entities that share as one their weight in a full pool (C4)', () => {
    const shortages = [shortage(1, { lacking: 9 }), shortage(2, { entityId: 2, lacking: 9 })];
    const shares = share(shortages, { pools: { linux: 8 } }, { common: asOne(3) });
    expect(madeOf(shares)).toEqual({ 1: 2, 2: 6 });
  });

  test('counts the workers that entities that share as one have in the pool, and is fair among them (C4)', () => {
    const live = [{ demandKey: 2, entityId: 2, scopeRepoId: 0, pool: 'linux', alive: 3 }];
    const shortages = [1, 2, 3].map((key) => shortage(key, { entityId: key, lacking: 9 }));
    const elsewhere = { demandKey: 3, entityId: 3, scopeRepoId: 0, pool: 'gpu', alive: 5 };
    const made = (caps: Caps, there: LiveWorkers[]) =>
      madeOf(share(shortages, caps, { live: there, common: asOne(1) }));
    expect(made({ pools: { linux: 7 } }, [...live, elsewhere])).toEqual({ 1: 5, 3: 2 });
    expect(made({ common: 4 }, live)).toEqual({ 1: 9, 2: 1, 3: 3 });
  });
});

const ACME = 1;
const GLOBEX = 2;
const NO_OTHERS = 1_000;

const shortage = (demandKey: number, given: Partial<Shortage> = {}): Shortage => ({
  demandKey,
  entityId: ACME,
  scopeRepoId: 0,
  pool: 'linux',
  lacking: 1,
  jobTimes: [demandKey],
  ...given,
});

interface Caps {
  readonly entities?: Readonly<Record<number, number>>;
  /** Of the entities 2 and 3 together. */
  readonly common?: number | undefined;
  readonly pools?: Readonly<Record<string, number>>;
  readonly keys?: Readonly<Record<number, number>>;
}

/** The entities that share as one, if there are any. */
const COMMON = new Set([2, 3]);
const asOne = (weight: number): Sharing['common'] => ({ has: (id) => COMMON.has(id), weight });

const roomOf = ({ entities = {}, common, pools = {}, keys = {} }: Caps): Room => ({
  entity: (entityId) => entities[entityId] ?? Infinity,
  common: (entityId) => (common !== undefined && COMMON.has(entityId) ? common : Infinity),
  pool: (pool) => pools[pool] ?? Infinity,
  key: ({ demandKey }) => keys[demandKey] ?? Infinity,
});

function share(
  shortages: Shortage[],
  caps: Caps,
  { live = [], weights = {}, most = NO_OTHERS, common = NONE }: Partial<Extra> = {},
) {
  const weight = (entityId: number) => weights[entityId] ?? 1;
  return shareRoom({ shortages, live, room: roomOf(caps), weight, common, most });
}

/** Entities that share as one: none. */
const NONE = { has: () => false, weight: 1 };

interface Extra {
  readonly common: Sharing['common'];
  readonly live: LiveWorkers[];
  readonly weights: Readonly<Record<number, number>>;
  readonly most: number;
}

const madeOf = (shares: ReturnType<typeof shareRoom>) =>
  Object.fromEntries([...shares].map(([key, { made }]) => [key, made]));

/**
 * Up to three entities with two repositories each, in up to three pools, under caps of all kinds.
 */
const situations = () =>
  fc
    .record({
      lacks: fc.uniqueArray(
        fc.record({
          entityId: fc.integer({ min: 1, max: 3 }),
          repo: fc.nat(2),
          pool: fc.constantFrom('a', 'b', 'c'),
          lacking: fc.integer({ min: 1, max: 6 }),
          time: fc.nat(50),
          alive: fc.nat(3),
        }),
        { selector: ({ entityId, repo, pool }) => `${entityId} ${repo} ${pool}`, maxLength: 12 },
      ),
      entities: fc.dictionary(fc.constantFrom('1', '2', '3'), fc.nat(8)),
      pools: fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.nat(8)),
      common: fc.option(fc.nat(8), { nil: undefined }),
      keys: fc.array(fc.option(fc.nat(4), { nil: undefined }), { maxLength: 12 }),
      weights: fc.dictionary(fc.constantFrom('1', '2', '3'), fc.constantFrom(0.5, 1, 2, 7)),
    })
    .map(({ lacks, keys, weights, ...caps }) => {
      const shortages = lacks.map(({ repo, time, alive: _alive, ...lack }, index) =>
        shortage(index, { ...lack, scopeRepoId: repo, jobTimes: [time, time + 3] }),
      );
      const live = shortages.map((one, index) => ({ ...one, alive: lacks[index]?.alive ?? 0 }));
      const keyCaps = Object.fromEntries(
        keys.flatMap((cap, index) => (cap === undefined ? [] : [[index, cap]])),
      );
      return { shortages, live, caps: { ...caps, keys: keyCaps }, weights };
    });
