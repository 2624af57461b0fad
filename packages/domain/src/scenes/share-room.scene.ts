import { fc } from '@paddock/testing/random-cases';
import {
  type LiveWorkers,
  type Room,
  shareRoom,
  type Sharing,
  type Shortage,
} from '../matching/share-room.ts';

export const ACME = 1;
export const GLOBEX = 2;
const NO_OTHERS = 1_000;

export const shortage = (demandKey: number, given: Partial<Shortage> = {}): Shortage => ({
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
export const COMMON = new Set([2, 3]);

export const roomOf = ({ entities = {}, common, pools = {}, keys = {} }: Caps): Room => ({
  entity: (entityId) => entities[entityId] ?? Infinity,
  common: (entityId) => (common !== undefined && COMMON.has(entityId) ? common : Infinity),
  pool: (pool) => pools[pool] ?? Infinity,
  key: ({ demandKey }) => keys[demandKey] ?? Infinity,
});

export function share(
  shortages: Shortage[],
  caps: Caps,
  { live = [], weights = {}, most = NO_OTHERS, common = NONE }: Partial<Extra> = {},
) {
  const weight = (entityId: number) => weights[entityId] ?? 1;
  return shareRoom({
    shortages,
    live,
    room: roomOf(caps),
    weight,
    common,
    most,
  });
}

/** Entities that share as one: none. */
const NONE = { has: () => false, weight: 1 };

interface Extra {
  readonly common: Sharing['common'];
  readonly live: LiveWorkers[];
  readonly weights: Readonly<Record<number, number>>;
  readonly most: number;
}

export const madeOf = (shares: ReturnType<typeof shareRoom>) =>
  Object.fromEntries([...shares].map(([key, { made }]) => [key, made]));

/**
 * Up to three entities with two repositories each, in up to three pools, under caps of all kinds.
 */
export const situations = () =>
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
      keys: fc.array(fc.option(fc.nat(4), { nil: undefined }), { maxLength: 12 }),
      weights: fc.dictionary(fc.constantFrom('1', '2', '3'), fc.constantFrom(0.5, 1, 2, 7)),
    })
    .map(({ lacks, entities, pools, keys, weights }) => {
      const shortages = lacks.map(({ repo, time, alive: _alive, ...lack }, index) =>
        shortage(index, { ...lack, scopeRepoId: repo, jobTimes: [time, time + 3] }),
      );
      const live = shortages.map((one, index) => ({ ...one, alive: lacks[index]?.alive ?? 0 }));
      const keyCaps = Object.fromEntries(
        keys.flatMap((cap, index) => (cap === undefined ? [] : [[index, cap]])),
      );
      return {
        shortages,
        live,
        caps: { entities, pools, keys: keyCaps },
        weights,
      };
    });
