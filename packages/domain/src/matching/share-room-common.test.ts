import { describe, expect, test } from '@jest/globals';
import { fc } from '@paddock/testing/random-cases';
import { COMMON, madeOf, roomOf, share, shortage, situations } from '../scenes/share-room.scene.ts';
import type { Shortage } from './share-room.ts';

/** Entities of the common cap, each with one key. */
const others = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    shortage(10 + index, { entityId: 10 + index, lacking: 50, jobTimes: [10] }),
  );

describe('shareRoom among entities that share one cap', () => {
  test('gives entities that share as one no more together than their cap, and leaves the rest to others (C4)', () => {
    const sharesAsOne = { has: (entityId: number) => COMMON.has(entityId), weight: 1 };
    fc.assert(
      fc.property(situations(), fc.nat(8), ({ shortages, live, caps, weights }, common) => {
        const room = roomOf({ ...caps, common });
        const shares = share(
          shortages,
          { ...caps, common },
          { live, weights, common: sharesAsOne },
        );
        const made = (of: (one: Shortage) => boolean) =>
          shortages
            .filter(of)
            .reduce((sum, { demandKey }) => sum + (shares.get(demandKey)?.made ?? 0), 0);
        const ofCommon = made(({ entityId }) => COMMON.has(entityId));
        expect(ofCommon).toBeLessThanOrEqual(common);
        for (const one of shortages) {
          const own = made(({ demandKey }) => demandKey === one.demandKey);
          const ofEntity = made(({ entityId }) => entityId === one.entityId);
          const ofPool = made(({ pool }) => pool === one.pool);
          expect(own).toBeLessThanOrEqual(Math.min(one.lacking, room.key(one)));
          expect(ofEntity).toBeLessThanOrEqual(room.entity(one.entityId));
          expect(ofPool).toBeLessThanOrEqual(room.pool(one.pool));
          const isFull =
            own === Math.min(one.lacking, room.key(one)) ||
            ofEntity === room.entity(one.entityId) ||
            (COMMON.has(one.entityId) && ofCommon === common);
          // Work conserving: only the pool keeps an entity from having more.
          expect(isFull || ofPool === room.pool(one.pool)).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('gives many entities that share as one no more of a full pool than one entity (C4)', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 30 }),
        fc.constantFrom(0.5, 1, 2),
        (entities, room, weight) => {
          const named = shortage(1, { lacking: 50 });
          const ofNamed = (count: number) =>
            share(
              [named, ...others(count)],
              { pools: { linux: room } },
              { common: { has: (entityId) => entityId >= 10, weight } },
            ).get(1)?.made;
          expect(ofNamed(entities)).toBe(ofNamed(1));
        },
      ),
    );
  });

  test('gives entities that share as one their weight in a full pool (C4)', () => {
    const shortages = [shortage(1, { lacking: 9 }), shortage(2, { entityId: 2, lacking: 9 })];
    const common = { has: (entityId: number) => COMMON.has(entityId), weight: 3 };
    expect(madeOf(share(shortages, { pools: { linux: 8 } }, { common }))).toEqual({ 1: 2, 2: 6 });
  });

  test('counts the workers that entities that share as one have in the pool, and is fair among them (C4)', () => {
    const live = [{ demandKey: 2, entityId: 2, scopeRepoId: 0, pool: 'linux', alive: 3 }];
    const shortages = [
      shortage(1, { lacking: 9 }),
      shortage(2, { entityId: 2, lacking: 9 }),
      shortage(3, { entityId: 3, lacking: 9 }),
    ];
    const common = { has: (entityId: number) => COMMON.has(entityId), weight: 1 };
    const elsewhere = { demandKey: 3, entityId: 3, scopeRepoId: 0, pool: 'gpu', alive: 5 };
    const everywhere = [...live, elsewhere];
    expect(madeOf(share(shortages, { pools: { linux: 7 } }, { live: everywhere, common }))).toEqual(
      {
        1: 5,
        3: 2,
      },
    );
    expect(madeOf(share(shortages, { common: 4 }, { live, common }))).toEqual({ 1: 9, 2: 1, 3: 3 });
  });
});
