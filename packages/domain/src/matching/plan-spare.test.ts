import { describe, expect, test } from '@jest/globals';
import { rulesWith } from '../scenes/matching-rules.scene.ts';
import {
  type HeldBack,
  isWantedByJobs,
  planSpareStops,
  type SpareKey,
  type SpareWorkers,
} from './plan-spare.ts';

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
