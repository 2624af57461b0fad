import { describe, expect, test } from '@jest/globals';
import { ACME, INSTALLATION, keyDemand as key, rulesWith } from '../scenes/snapshot.scene.ts';
import { type KeyDemand, capsOf } from './caps.ts';
import { findRivals, planWorkers } from './plan-workers.ts';
import type { LiveWorkers } from './share-room.ts';
import type { WaitReason } from './wait-reasons.ts';

type Rules = Parameters<typeof rulesWith>[0];

const failing = (demandKey: number, isPaused: boolean, reason: WaitReason) => ({
  failing: new Map([[demandKey, { room: isPaused ? 0 : 1, reason }]]),
});
const unserved = (demandKey: number, isPaused: boolean) =>
  failing(demandKey, isPaused, 'github_does_not_assign');
const nodeless = (unplaced: number) => ({
  nodeless: new Map([[1, { unschedulable: 1, unplaced }]]),
});
const budget = (...budgets: [number, number][]) => ({ budgets: new Map(budgets) });
const refused = (entityId: number, isTried = false): Rules => ({
  told: {
    entities: new Map([[entityId, { isPaused: false, isTried, reason: 'installation_refused' }]]),
    repositories: new Map(),
  },
});
const openTo = (cap: number | null) => new Map([['*', { cap, weight: 1 }]]);

function plan(
  demand: KeyDemand[],
  rules: Rules = {},
  { live = [] as LiveWorkers[], most = 100 } = {},
) {
  const caps = capsOf(demand, live, rulesWith(rules));
  return planWorkers(demand, live, { caps, jobTimes: new Map(), most });
}
/** Gives key 1 this many live workers. */
const alive = (count: number) => ({
  live: [{ demandKey: 1, entityId: ACME, scopeRepoId: 0, pool: 'linux', alive: count }],
});
const rivals = (demand: KeyDemand[], rules: Rules) =>
  findRivals(capsOf(demand, [], rulesWith(rules)));
const madeOf = (plans: ReturnType<typeof plan>) => [...plans.values()].map(({ made }) => made);

describe('planWorkers', () => {
  test.each<[string, Rules, number, WaitReason | null]>([
    ['nothing binds', {}, 3, null],
    ['the entity has its workers', { cap: 3 }, 1, 'at_entity_cap'],
    ['the pool has its workers', { pool: { cap: 3 } }, 1, 'at_pool_cap'],
    ['no node takes ten', nodeless(10), 0, 'no_capacity'],
    ['no node takes some of eight', nodeless(8), 2, 'no_capacity'],
    ['no node takes one, and there is room for more', nodeless(1), 3, null],
    [
      'the pool may have more on no node',
      { ...nodeless(10), pool: { maxUnschedulable: 11 } },
      1,
      'no_capacity',
    ],
    ['the budget binds first', { cap: 4, ...budget([INSTALLATION, 1]) }, 1, 'github_budget'],
    ['the cap binds first', { cap: 3, ...budget([INSTALLATION, 2]) }, 1, 'at_entity_cap'],
    ['both bind alike', { cap: 3, ...budget([INSTALLATION, 1]) }, 1, 'at_entity_cap'],
    ['there is no budget at all', budget([INSTALLATION, 0]), 0, 'github_budget'],
    ['nothing is known of the budget', { usualBudget: 1 }, 1, 'github_budget'],
    ['making is stopped', { environmentStopped: true, cap: 0 }, 0, 'making_stopped'],
    ['GitHub is away', { cap: 2, away: 'github_unavailable' }, 0, 'github_unavailable'],
  ])('when %s (C4, P5)', (_name, rules, made, waitReason) => {
    expect(plan([key(1)], rules, alive(2)).get(1)).toMatchObject({ made, waitReason });
  });

  test('leaves the last place in a pool to the oldest job (C4)', () => {
    const keys = [key(1, { oldest: 9 }), key(2, { entityId: 2, oldest: 5 })];
    expect(madeOf(plan(keys, { pool: { cap: 1 } }))).toEqual([0, 1]);
  });

  const twoApps = [key(1), key(2, { installationId: 32 })];

  test('an installation without any budget holds back its own keys, not those of another App of the entity (C9)', () => {
    const plans = plan(twoApps, budget([INSTALLATION, 0]));
    expect(plans.get(1)).toMatchObject({ made: 0, waitReason: 'github_budget' });
    expect(plans.get(2)).toMatchObject({ made: 3, waitReason: null });
  });

  test('an entity with several Apps gets no more than the smallest of their budgets (C9)', () => {
    const plans = plan(twoApps, budget([INSTALLATION, 1], [32, 5]));
    expect(plans.get(1)).toMatchObject({ made: 1, waitReason: 'github_budget' });
    expect(plans.get(2)).toMatchObject({ made: 0, waitReason: 'github_budget' });
  });

  test('keeps to a cap per repository where runners register there, and says which cap is the tightest (C4)', () => {
    const keys = [key(1, { scopeRepoId: 21 }), key(2)];
    const plans = plan(keys, { cap: 9, pool: { repositoryCap: 2 } });
    expect(plans.get(1)).toEqual({ made: 2, waitReason: 'at_repository_cap', cap: 2, heldBack: 1 });
    expect(plans.get(2)).toEqual({ made: 3, waitReason: null, cap: 9, heldBack: 0 });
  });

  const common = { cap: 3, weight: 1 };
  const ofPool = { pool: { cap: 2 } };
  test.each<[string, Rules, object]>([
    ['alone', { cap: 2 }, { made: 0, waitReason: 'at_entity_cap', heldBack: 3 }],
    [
      'where its pool has room for one',
      { cap: 2, pool: { cap: 3 } },
      { made: 0, waitReason: 'at_entity_cap', heldBack: 1 },
    ],
    [
      'where its pool has more than it may',
      { cap: 2, pool: { cap: 1 } },
      { made: 0, waitReason: 'at_entity_cap', heldBack: 0 },
    ],
    [
      'where no node is free',
      { cap: 2, ...nodeless(10) },
      { made: 0, waitReason: 'at_entity_cap', heldBack: 0 },
    ],
    [
      'where GitHub gives no job',
      { ...ofPool, ...unserved(1, true) },
      { made: 0, waitReason: 'at_pool_cap', heldBack: 0 },
    ],
    [
      'beside its key’s trial',
      { pool: { cap: 3 }, ...unserved(1, false) },
      { made: 1, heldBack: 0 },
    ],
    ['beside the last common place', { entities: openTo(3), common }, { made: 1, heldBack: 0 }],
    [
      'beside the pool’s last place but one',
      { cap: 3, pool: { cap: 4 } },
      { made: 1, heldBack: 1 },
    ],
    [
      'beside its own last place but one',
      { entities: openTo(4), common },
      { made: 1, heldBack: 1 },
    ],
  ])('tells how many room under the named cap would make, %s (C10)', (_name, rules, expected) => {
    expect(plan([key(1)], rules, alive(2)).get(1)).toMatchObject(expected);
  });

  const suspected = { suspected: () => true };
  test.each<[string, Rules, number, number, WaitReason | null]>([
    ['that is paused', failing(1, true, 'workers_failing'), 0, 0, 'workers_failing'],
    ['after its pause', failing(1, false, 'workers_failing'), 0, 1, 'workers_failing'],
    ['whose trial is under way', failing(1, false, 'workers_failing'), 1, 0, 'workers_failing'],
    ['of too open a group', failing(1, true, 'runner_group_open'), 0, 0, 'runner_group_open'],
    ['that GitHub gave no job', unserved(1, false), 0, 1, 'github_does_not_assign'],
    ['beside another that may not be tried', unserved(2, true), 0, 3, null],
    ['of a suspected pool', suspected, 0, 1, 'pool_suspected'],
    ['of a suspected pool, with a worker on its way', suspected, 1, 0, 'pool_suspected'],
    ['of an entity refused until now', refused(ACME), 0, 1, 'installation_refused'],
    ['of such an entity, on trial', refused(ACME, true), 0, 0, 'installation_refused'],
    ['of another entity', refused(9), 0, 3, null],
  ])('a key %s (C11)', (_name, given, unassigned, made, waitReason) => {
    expect(plan([key(1, { unassigned })], given).get(1)).toMatchObject({ made, waitReason });
  });

  test('a key that fails costs no other key of its entity and pool a worker (P6)', () => {
    const rules = { entities: openTo(null), ...failing(1, true, 'workers_failing') };
    expect(madeOf(plan([key(1), key(2), key(3, { entityId: 2 })], rules))).toEqual([0, 3, 3]);
  });

  test('counts under the cap of a repository its live workers, and no other key’s (C4)', () => {
    const keys = [key(1, { scopeRepoId: 21 }), key(2, { scopeRepoId: 22 })];
    expect(madeOf(plan(keys, { pool: { repositoryCap: 2 } }, alive(1)))).toEqual([1, 2]);
  });

  test.each<[string, KeyDemand, Rules]>([
    ['for workers that only the next pass makes (C4)', key(1, { lacking: 4 }), {}],
    ['where nothing lacks (P5)', key(1, { lacking: 0 }), { environmentStopped: true }],
  ])('has no reason %s', (_name, demand, rules) => {
    const made = Math.min(demand.lacking, 2);
    expect(plan([demand], rules, { most: 2 }).get(1)).toMatchObject({ made, waitReason: null });
  });
});

test('asks for the ages of jobs only where several keys of an entity want more than it may have (C4)', () => {
  const two = [key(1), key(2, { lacking: 5 })];
  expect(rivals(two, {})).toEqual([]);
  expect(rivals([key(1)], { cap: 2 })).toEqual([]);
  expect(rivals(two, { cap: 8 })).toEqual([]);
  expect(rivals(two, { cap: 4 })).toEqual([
    { demandKey: 1, count: 3 },
    { demandKey: 2, count: 4 },
  ]);
  // A job that cannot come into question is not asked for.
  expect(rivals([key(1), key(2), key(3)], { cap: 2, ...unserved(2, true) })).toEqual([
    { demandKey: 1, count: 2 },
    { demandKey: 3, count: 2 },
  ]);
});
