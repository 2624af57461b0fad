import { describe, expect, test } from '@jest/globals';
import {
  liveOf,
  reservationOf,
  rulesWith,
  snapshotOf,
  spareOf,
  warmKey,
} from '../scenes/snapshot.scene.ts';
import type { MatchingRules } from './matching-rules.ts';
import { type Reservation, pickUnwanted } from './pick-unwanted.ts';
import {
  type HeldBack,
  type SpareWorkers,
  isWantedByJobs,
  planSpareStops,
  planWarm,
} from './plan-spare.ts';
import type { SpareKey, WarmKey } from './snapshot.ts';

/** Reservations of the key 10, which jobs want. */
const three = (given: Partial<Reservation> = {}) =>
  ['newest', 'middle', 'oldest'].map((name) =>
    reservationOf(name, 10, { waiting: 3, unassigned: 3, ...given }),
  );
const pick = (
  newestFirst: Reservation[],
  rules: MatchingRules = rulesWith(),
  { live = [liveOf(10, 3)], warm = new Map<number, number>() } = {},
) => pickUnwanted(newestFirst, live, { rules, warm }).map(({ podName }) => podName);
const EVERYBODY = new Map([['*', { cap: null, weight: 1 }]]);
const sharing = (cap: number) => ({ entities: EVERYBODY, common: { cap, weight: 1 } });

describe('pickUnwanted', () => {
  test('one that is being stopped is no supply: when it goes, as many of the others as before are too many (C3)', () => {
    const [, ...others] = three({ waiting: 1, unassigned: 2 });
    const newest = reservationOf('newest', 10, { stopping: true, waiting: 1, unassigned: 2 });
    expect(pick([newest, ...others])).toEqual(['newest', 'middle']);
  });

  test('keeps warm workers beyond the demand (C10)', () => {
    const warm = new Map([[10, 2]]);
    expect(pick(three({ waiting: 0 }), rulesWith(), { warm })).toEqual(['newest']);
  });

  test.each([
    ['the entity’s cap', rulesWith({ cap: 2 })],
    ['the pool’s cap', rulesWith({ pool: { cap: 2 } })],
    ['the common cap of unnamed entities', rulesWith(sharing(2))],
  ])('picks as many as exceed %s (C4)', (_name, rules) => {
    expect(pick(three(), rules)).toEqual(['newest']);
  });

  test.each([
    ['is paused: all go', 0, 3, ['newest', 'middle', 'oldest']],
    ['may be tried: one stays', 1, 3, ['newest', 'middle']],
    ['may be tried, and a registered worker is the trial', 1, 4, ['newest', 'middle', 'oldest']],
  ])('of a failing key that %s (C11)', (_name, room, unassigned, expected) => {
    const rules = rulesWith({ failing: new Map([[10, { room, reason: 'workers_failing' }]]) });
    const live = [liveOf(10, unassigned)];
    expect(pick(three({ unassigned, waiting: 9 }), rules, { live })).toEqual(expected);
  });

  test('keeps what was reserved where another key fails, the pool is suspected, or GitHub is away (C11, P6)', () => {
    const rules = rulesWith({
      failing: new Map([[11, { room: 0, reason: 'workers_failing' }]]),
      suspected: () => true,
      away: 'github_unavailable',
    });
    expect(pick(three(), rules)).toEqual([]);
  });

  test('keeps to a cap per repository only where runners register there (C4)', () => {
    const rules = rulesWith({ pool: { repositoryCap: 1 } });
    expect(pick(three(), rules)).toEqual([]);
    expect(pick(three({ scopeRepoId: 5 }), rules)).toEqual(['newest', 'middle']);
  });

  test.each([
    ['whose pool is paused', rulesWith({ pool: { paused: true } })],
    ['whose pool has gone', rulesWith({ pools: new Map() })],
    ['whose entity is not allowed', rulesWith({ entities: new Map() })],
    ['in a stopped environment', rulesWith({ environmentStopped: true })],
    ['in a stopped pool', rulesWith({ pool: { stopped: true } })],
    ['of a stopped entity', rulesWith({ stoppedEntities: new Set([1]) })],
  ])('picks all workers %s (C12)', (_name, rules) => {
    expect(pick(three(), rules)).toHaveLength(3);
  });

  test('counts what each key lacks by itself (C3)', () => {
    const keys = [reservationOf('a', 10), reservationOf('b', 11, { waiting: 1 })];
    const live = [liveOf(10, 1)];
    expect(pick(keys, rulesWith(), { live })).toEqual(['a']);
    expect(pick(keys.toReversed(), rulesWith(), { live })).toEqual(['a']);
  });

  test('counts under the common cap no entity that is listed (C4)', () => {
    const entities = new Map([['acme', { cap: null, weight: 1 }], ...EVERYBODY]);
    const rules = rulesWith({ ...sharing(1), entities, listed: new Set([1]) });
    const stranger = reservationOf('stranger', 20, { waiting: 1 });
    expect(pick([...three(), stranger], rules, { live: [liveOf(10, 3), liveOf(20, 1)] })).toEqual(
      [],
    );
  });
});

const held = (given: Partial<HeldBack> = {}): HeldBack => ({
  entityId: 1,
  pool: 'linux',
  reason: 'at_entity_cap',
  count: 1,
  ...given,
});
const COMMON = rulesWith(sharing(3));
const WARM = new Map([[10, 3]]);

/** The stops of the key 10, which has three workers that no job wants; `given` has the differences. */
const leaving = (given: Partial<SpareWorkers> = {}) =>
  planSpareStops({
    keys: [spareOf(10, 3)],
    warm: new Map(),
    live: [liveOf(10, 3)],
    stopping: [],
    heldBack: [],
    rules: rulesWith(),
    ...given,
  });
const stops = (count: number, inTheWay = 0, demandKey = 10) => ({ demandKey, count, inTheWay });

describe('planSpareStops', () => {
  test('stops workers that no job wants, beyond the warm ones (C3, C10)', () => {
    expect(leaving()).toEqual([stops(3)]);
    expect(leaving({ warm: new Map([[10, 2]]) })).toEqual([stops(1)]);
    expect(leaving({ warm: new Map([[10, 5]]) })).toEqual([]);
    expect(leaving({ keys: [] })).toStrictEqual([]);
  });

  const budget = held({ reason: 'github_budget' });
  const ofPool = held({ reason: 'at_pool_cap' });
  const ofCommon = held({ entityId: 2, reason: 'at_common_cap' });
  test.each([
    ['the entity’s cap', rulesWith({ cap: 3 }), held({ count: 2 }), 2],
    ['the pool’s cap', rulesWith({ pool: { cap: 3 } }), ofPool, 1],
    ['the common cap of unnamed entities', COMMON, ofCommon, 1],
    ['another entity’s room', rulesWith({ cap: 3 }), held({ entityId: 2 }), 0],
    ['another pool’s room', rulesWith({ pool: { cap: 3 } }), { ...ofPool, pool: 'gpu' }, 0],
    ['GitHub’s budget', rulesWith({ cap: 3 }), budget, 0],
    ['that, under a cap of the pool', rulesWith({ pool: { cap: 3 } }), budget, 0],
    ['that, under the common cap', COMMON, budget, 0],
  ])('lets warm workers go as far as jobs wait for %s (C10)', (_name, rules, heldBack, count) => {
    const expected = count === 0 ? [] : [stops(count, count)];
    expect(leaving({ warm: WARM, heldBack: [heldBack], rules })).toEqual(expected);
  });

  test('counts workers that are stopping already, and stops unwanted workers before warm ones', () => {
    const given = {
      rules: rulesWith({ cap: 5 }),
      live: [liveOf(10, 3), liveOf(11, 2)],
      warm: WARM,
      heldBack: [held({ count: 2 })],
    };
    expect(leaving({ ...given, keys: [spareOf(10, 3), spareOf(11, 1)] })).toEqual([
      stops(1, 1, 11),
      stops(1, 1),
    ]);
    expect(leaving({ ...given, stopping: [liveOf(11, 2)] })).toEqual([]);
  });

  const elsewhere: Partial<SpareKey> = { entityId: 9, login: 'x', pool: 'gone', scopeRepoId: 5 };
  const repositoryCap = rulesWith({ pool: { repositoryCap: 2 } });
  test.each<[string, Partial<SpareWorkers>, ReturnType<typeof stops>[]]>([
    ['that exceed a lowered cap (C4)', { rules: rulesWith({ cap: 1 }) }, [stops(2, 2)]],
    [
      'of a pool that may have none (C12)',
      { rules: rulesWith({ pool: { paused: true } }) },
      [stops(3)],
    ],
    ['without a rule for entity and pool (C4)', { keys: [spareOf(10, 3, elsewhere)] }, [stops(3)]],
    [
      'that exceed the cap of a repository (C4)',
      { keys: [spareOf(10, 3, { scopeRepoId: 5 })], rules: repositoryCap },
      [stops(1, 1)],
    ],
    ['that register elsewhere: none', { rules: repositoryCap }, []],
  ])('lets warm workers go %s', (_name, given, expected) => {
    expect(leaving({ warm: WARM, ...given })).toEqual(expected);
  });
});

test.each<[string, Partial<HeldBack>, boolean]>([
  ['the entity’s cap', {}, true],
  ['the pool’s nodes', { entityId: 2, reason: 'no_capacity' }, true],
  ...(['github_budget', 'installation_refused', 'installation_gone'] as const).flatMap(
    (reason): [string, Partial<HeldBack>, boolean][] => [
      [`its entity’s ${reason}`, { reason, pool: 'gpu' }, true],
      [`another entity’s ${reason}`, { reason, entityId: 2 }, false],
    ],
  ),
  ['the pool’s cap', { entityId: 2, reason: 'at_pool_cap' }, true],
  ['another entity', { entityId: 2 }, false],
  ['another pool', { pool: 'gpu', reason: 'at_pool_cap' }, false],
  ['what only another key of its entity fails', { reason: 'workers_failing' }, false],
  ['what only its own key lacks', { reason: 'github_does_not_assign' }, false],
])('a warm worker is not made while a job waits for %s: %s (C10)', (_name, given, expected) => {
  const others = [held({ entityId: 2 }), held(given)];
  expect(isWantedByJobs(others, { entityId: 1, pool: 'linux' })).toBe(expected);
  expect(isWantedByJobs([], { entityId: 1, pool: 'linux' })).toBe(false);
});

const plan = (given: Partial<WarmKey>, most = 100) =>
  planWarm(snapshotOf({ warm: [warmKey(10, given)] }), [], most);
const podNames = (count: number) => Array.from({ length: count }, (_, n) => `aged-${n}`);

describe('planWarm', () => {
  test.each<[string, Partial<WarmKey>, number]>([
    ['all where there are none', {}, 2],
    ['the missing ones beside spare workers', { unassigned: 1 }, 1],
    ['none beside enough', { unassigned: 2 }, 0],
    ['all beside workers that jobs wait for', { unassigned: 2, waiting: 2 }, 2],
    ['none whose jobs others have taken', { unassigned: 2, waiting: 2, unexplained: 2 }, 0],
  ])('makes %s (C10)', (_what, given, made) => {
    expect(plan(given).make.map(({ count }) => count)).toEqual(made === 0 ? [] : [made]);
  });

  test('marks spare workers up to the wanted number, until they are marked (C10)', () => {
    expect(plan({ unassigned: 5 }).mark).toEqual([{ demandKey: 10, count: 2 }]);
    expect(plan({ unassigned: 5, marked: 1 }).mark).toEqual([{ demandKey: 10, count: 2 }]);
    expect(plan({ unassigned: 5, marked: 2 }).mark).toEqual([]);
    expect(plan({ unassigned: 1, waiting: 1 }).mark).toEqual([]);
  });

  test.each([
    ['one of a few', 2, 0, 1],
    ['a tenth of many', 20, 0, 2],
    ['fewer while others are being replaced', 20, 1, 1],
    ['none while enough are', 20, 3, 0],
  ])(
    'replaces %s at a time, the oldest, and makes as many (C10)',
    (_what, wanted, renewing, count) => {
      const { renew, make } = plan({
        wanted,
        unassigned: wanted,
        marked: wanted,
        aged: podNames(5),
        renewing,
      });
      expect(renew).toEqual(podNames(5).slice(0, count));
      expect(make.map((one) => one.count)).toEqual(count === 0 ? [] : [count]);
    },
  );

  test('makes no more than it may, and none where a job waits for the same place (C10)', () => {
    expect(plan({}, 1).make.map(({ count }) => count)).toEqual([1]);
    expect(plan({}, 0).make).toEqual([]);
    expect(planWarm(snapshotOf({ warm: [warmKey(10)] }), [held()], 100).make).toEqual([]);
  });
});
