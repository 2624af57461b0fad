import { describe, expect, test } from '@jest/globals';
import { rulesWith, snapshotOf, storedRules, warmKey } from '../scenes/snapshot.scene.ts';
import type { MatchingRules } from './matching-rules.ts';
import { type Reservation, pickUnwanted } from './pick-unwanted.ts';
import {
  type HeldBack,
  type SpareWorkers,
  isWantedByJobs,
  planSpareStops,
  planWarm,
} from './plan-spare.ts';
import type { SpareKey } from './snapshot.ts';
import type { WarmKey } from './snapshot.ts';

const worker = (podName: string, given: Partial<Reservation> = {}): Reservation => ({
  podName,
  demandKey: 7,
  entityId: 1,
  login: 'Acme',
  scopeRepoId: 0,
  installationId: 31,
  pool: 'linux',
  stopping: false,
  waiting: 3,
  unassigned: 3,
  ...given,
});

const three = (given: Partial<Reservation> = {}) =>
  ['newest', 'middle', 'oldest'].map((name) => worker(name, given));
const living = (alive: number) => [
  { demandKey: 7, entityId: 1, scopeRepoId: 0, pool: 'linux', alive },
];
const NONE = new Map<number, number>();
const pick = (
  newestFirst: Reservation[],
  workers: ReturnType<typeof living>,
  rules: MatchingRules,
  warm = NONE,
) => pickUnwanted(newestFirst, workers, { rules, warm });
const EVERYBODY = new Map([['*', { cap: null, weight: 1 }]]);
const names = (picked: readonly Reservation[]) => picked.map(({ podName }) => podName);

describe('pickUnwanted', () => {
  test('keeps wanted reservations, at the caps too (P3)', () => {
    expect(pick(three(), living(3), rulesWith({ cap: 3, pool: { cap: 3 } }))).toEqual([]);
  });

  test('picks the newest, as many as are too many for the demand (C3)', () => {
    expect(names(pick(three({ waiting: 1 }), living(3), rulesWith()))).toEqual([
      'newest',
      'middle',
    ]);
  });

  test('one that is being stopped is no supply: when it goes, as many of the others as before are too many (C3)', () => {
    const [newest, ...others] = three({ waiting: 1, unassigned: 2 });
    const picked = pick(
      [{ ...(newest ?? worker('newest')), stopping: true }, ...others],
      living(3),
      rulesWith(),
    );
    expect(names(picked)).toEqual(['newest', 'middle']);
  });

  test('keeps warm workers beyond the demand (C10)', () => {
    expect(names(pick(three({ waiting: 0 }), living(3), rulesWith(), new Map([[7, 2]])))).toEqual([
      'newest',
    ]);
  });

  test.each([
    ['the entity’s cap', rulesWith({ cap: 2 })],
    ['the pool’s cap', rulesWith({ pool: { cap: 2 } })],
    [
      'the common cap of unnamed entities',
      rulesWith({ entities: EVERYBODY, common: { cap: 2, weight: 1 } }),
    ],
  ])('picks as many as exceed %s (C4)', (_name, rules) => {
    expect(names(pick(three(), living(3), rules))).toEqual(['newest']);
  });

  test.each([
    ['is paused: all go', 0, 3, ['newest', 'middle', 'oldest']],
    ['may be tried: one stays', 1, 3, ['newest', 'middle']],
    ['may be tried, and a registered worker is the trial', 1, 4, ['newest', 'middle', 'oldest']],
  ])('of a failing key that %s (C11)', (_name, room, unassigned, expected) => {
    const rules = rulesWith({ failing: new Map([[7, { room, reason: 'workers_failing' }]]) });
    expect(names(pick(three({ unassigned, waiting: 9 }), living(unassigned), rules))).toEqual(
      expected,
    );
  });

  test('keeps what was reserved where another key fails, the pool is suspected, or GitHub is away (C11, P6)', () => {
    const rules = rulesWith({
      failing: new Map([[8, { room: 0, reason: 'workers_failing' }]]),
      suspected: () => true,
      away: 'github_unavailable',
    });
    expect(pick(three(), living(3), rules)).toEqual([]);
  });

  test('counts a worker once that is too many for two reasons', () => {
    expect(
      names(pick(three({ waiting: 2 }), living(3), rulesWith({ cap: 2, pool: { cap: 2 } }))),
    ).toEqual(['newest']);
  });

  test('keeps to a cap per repository only where runners register there (C4)', () => {
    const rules = rulesWith({ pool: { repositoryCap: 1 } });
    expect(names(pick(three(), living(3), rules))).toEqual([]);
    expect(names(pick(three({ scopeRepoId: 5 }), living(3), rules))).toEqual(['newest', 'middle']);
  });

  test.each([
    ['whose pool is paused', rulesWith({ pool: { paused: true } })],
    ['whose pool has gone', rulesWith({ pools: new Map() })],
    ['whose entity is not allowed', rulesWith({ entities: new Map() })],
    ['in a stopped environment', rulesWith({ environmentStopped: true })],
    ['in a stopped pool', rulesWith({ pool: { stopped: true } })],
    ['of a stopped entity', rulesWith({ stoppedEntities: new Set([1]) })],
  ])('picks all workers %s (C12)', (_name, rules) => {
    expect(pick(three(), living(3), rules)).toHaveLength(3);
  });

  test('picks stopping workers, which were no supply: the others stay', () => {
    const mixed = [
      worker('stopping', { stopping: true, unassigned: 2, waiting: 2 }),
      ...three({ unassigned: 2, waiting: 2 }).slice(1),
    ];
    expect(names(pick(mixed, living(3), rulesWith()))).toEqual(['stopping']);
  });

  test('counts what each key lacks by itself (C3)', () => {
    const keys = [
      worker('a', { unassigned: 1, waiting: 0 }),
      worker('b', { demandKey: 8, unassigned: 1, waiting: 1 }),
    ];
    expect(names(pick(keys, living(1), rulesWith()))).toEqual(['a']);
    expect(names(pick(keys.toReversed(), living(1), rulesWith()))).toEqual(['a']);
  });

  test('counts under the common cap no entity that is listed (C4)', () => {
    const entities = new Map([['acme', { cap: null, weight: 1 }], ...EVERYBODY]);
    const rules = rulesWith({ entities, common: { cap: 1, weight: 1 }, listed: new Set([1]) });
    const stranger = worker('stranger', {
      demandKey: 8,
      entityId: 2,
      login: 'x',
      waiting: 1,
      unassigned: 1,
    });
    expect(
      pick(
        [...three(), stranger],
        [
          ...living(3),
          { ...living(1)[0], demandKey: 8, entityId: 2, scopeRepoId: 0, pool: 'linux', alive: 1 },
        ],
        rules,
      ),
    ).toEqual([]);
  });
});

const key = (demandKey: number, spare: number, given: Partial<SpareKey> = {}): SpareKey => ({
  demandKey,
  entityId: 1,
  login: 'Acme',
  scopeRepoId: 0,
  pool: 'linux',
  spare,
  ...given,
});

const workers = (demandKey: number, alive: number) => ({
  demandKey,
  entityId: 1,
  scopeRepoId: 0,
  pool: 'linux',
  alive,
});
const held = (given: Partial<HeldBack> = {}): HeldBack => ({
  entityId: 1,
  pool: 'linux',
  reason: 'at_entity_cap',
  count: 1,
  ...given,
});

const COMMON = rulesWith({
  entities: new Map([['*', { cap: null, weight: 1 }]]),
  common: { cap: 3, weight: 1 },
});

const leaving = (given: Partial<SpareWorkers>) =>
  planSpareStops({
    keys: [],
    warm: new Map(),
    live: [workers(7, 3)],
    stopping: [],
    heldBack: [],
    rules: rulesWith(),
    ...given,
  });

describe('planSpareStops', () => {
  test('stops workers that no job wants, beyond the warm ones (C3, C10)', () => {
    const keys = [key(7, 3)];
    expect(leaving({ keys })).toEqual([{ demandKey: 7, count: 3, inTheWay: 0 }]);
    expect(leaving({ keys, warm: new Map([[7, 2]]) })).toEqual([
      { demandKey: 7, count: 1, inTheWay: 0 },
    ]);
    expect(leaving({ keys, warm: new Map([[7, 5]]) })).toEqual([]);
    expect(leaving({ keys: [] })).toStrictEqual([]);
  });

  test.each([
    ['the entity’s cap', rulesWith({ cap: 3 }), held({ count: 2 }), 2],
    ['the pool’s cap', rulesWith({ pool: { cap: 3 } }), held({ reason: 'at_pool_cap' }), 1],
    [
      'the common cap of unnamed entities',
      COMMON,
      held({ entityId: 2, reason: 'at_common_cap' }),
      1,
    ],
    ['another entity’s room', rulesWith({ cap: 3 }), held({ entityId: 2 }), 0],
    [
      'another pool’s room',
      rulesWith({ pool: { cap: 3 } }),
      held({ pool: 'gpu', reason: 'at_pool_cap' }),
      0,
    ],
    ['GitHub’s budget', rulesWith({ cap: 3 }), held({ reason: 'github_budget' }), 0],
    [
      'that, under a cap of the pool',
      rulesWith({ pool: { cap: 3 } }),
      held({ reason: 'github_budget' }),
      0,
    ],
    ['that, under the common cap', COMMON, held({ reason: 'github_budget' }), 0],
  ])('lets warm workers go as far as jobs wait for %s (C10)', (_name, rules, heldBack, count) => {
    const plan = leaving({
      keys: [key(7, 3)],
      warm: new Map([[7, 3]]),
      heldBack: [heldBack],
      rules,
    });
    expect(plan).toEqual(count === 0 ? [] : [{ demandKey: 7, count, inTheWay: count }]);
  });

  test('counts workers that are stopping already, and stops unwanted workers before warm ones', () => {
    const rules = rulesWith({ cap: 5 });
    const live = [workers(7, 3), workers(8, 2)];
    const warm = new Map([[7, 3]]);
    const heldBack = [held({ count: 2 })];
    expect(leaving({ keys: [key(7, 3), key(8, 1)], live, warm, heldBack, rules })).toEqual([
      { demandKey: 8, count: 1, inTheWay: 1 },
      { demandKey: 7, count: 1, inTheWay: 1 },
    ]);
    expect(
      leaving({ keys: [key(7, 3)], live, warm, heldBack, rules, stopping: [workers(8, 2)] }),
    ).toEqual([]);
  });

  test('lets warm workers go that exceed a cap which was lowered, and all of a pool that may have none (C4, C12)', () => {
    const keys = [key(7, 3)];
    const warm = new Map([[7, 3]]);
    expect(leaving({ keys, warm, rules: rulesWith({ cap: 1 }) })).toEqual([
      { demandKey: 7, count: 2, inTheWay: 2 },
    ]);
    expect(leaving({ keys, warm, rules: rulesWith({ pool: { paused: true } }) })).toEqual([
      { demandKey: 7, count: 3, inTheWay: 0 },
    ]);
  });

  test('stops all workers whose entity and pool no longer have a rule (C4)', () => {
    const keys = [key(7, 3, { entityId: 9, login: 'stranger', pool: 'gone', scopeRepoId: 5 })];
    expect(leaving({ keys, warm: new Map([[7, 3]]) })).toEqual([
      { demandKey: 7, count: 3, inTheWay: 0 },
    ]);
  });

  test('keeps to a cap per repository only where runners register there (C4)', () => {
    const rules = rulesWith({ pool: { repositoryCap: 2 } });
    const warm = new Map([[7, 3]]);
    expect(leaving({ keys: [key(7, 3)], warm, rules })).toEqual([]);
    expect(leaving({ keys: [key(7, 3, { scopeRepoId: 5 })], warm, rules })).toEqual([
      { demandKey: 7, count: 1, inTheWay: 1 },
    ]);
  });
});

test.each([
  ['the entity’s cap', held(), true],
  ['the pool’s nodes', held({ entityId: 2, reason: 'no_capacity' }), true],
  ...(['github_budget', 'installation_refused', 'installation_gone'] as const).flatMap(
    (reason): [string, HeldBack, boolean][] => [
      [`its entity’s ${reason}`, held({ reason, pool: 'gpu' }), true],
      [`another entity’s ${reason}`, held({ reason, entityId: 2 }), false],
    ],
  ),
  ['the pool’s cap', held({ entityId: 2, reason: 'at_pool_cap' }), true],
  ['another entity', held({ entityId: 2 }), false],
  ['another pool', held({ pool: 'gpu', reason: 'at_pool_cap' }), false],
  ['what only another key of its entity fails', held({ reason: 'workers_failing' }), false],
  ['what only its own key lacks', held({ reason: 'github_does_not_assign' }), false],
])('a warm worker is not made while a job waits for %s: %s (C10)', (_name, heldBack, expected) => {
  expect(isWantedByJobs([heldBack], { entityId: 1, pool: 'linux' })).toBe(expected);
});

test('one job that waits for it is enough, with any other waiting jobs (C10)', () => {
  expect(isWantedByJobs([held({ entityId: 2 }), held()], { entityId: 1, pool: 'linux' })).toBe(
    true,
  );
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
    [
      'none beside workers whose jobs other runners have taken',
      { unassigned: 2, waiting: 2, unexplained: 2 },
      0,
    ],
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
    const heldBack = { entityId: 1, pool: 'linux', reason: 'at_entity_cap', count: 1 } as const;
    expect(planWarm(snapshotOf({ warm: [warmKey(10)] }), [heldBack], 100).make).toEqual([]);
  });

  test('stays within the caps (C4, C10)', () => {
    const rules = storedRules({ entities: { '*': { maxWorkers: 1 } } });
    expect(planWarm(snapshotOf({ rules, warm: [warmKey(10)] }), [], 100).make).toMatchObject([
      { demandKey: 10, count: 1 },
    ]);
  });
});
