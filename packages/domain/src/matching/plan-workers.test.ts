import { describe, expect, test } from '@jest/globals';
import { ACME, INSTALLATION, keyDemand as key, rulesWith } from '../scenes/snapshot.scene.ts';
import { type KeyDemand, capsOf } from './caps.ts';
import type { MatchingRules } from './matching-rules.ts';
import { findRivals, planWorkers } from './plan-workers.ts';
import type { WaitReason } from './wait-reasons.ts';

const failing = (
  demandKey: number,
  isPaused: boolean,
  reason: WaitReason,
): Partial<MatchingRules> => ({
  failing: new Map([[demandKey, { room: isPaused ? 0 : 1, reason }]]),
});
const unserved = (demandKey: number, isPaused: boolean) =>
  failing(demandKey, isPaused, 'github_does_not_assign');
const nodeless = (unplaced: number) => ({
  nodeless: new Map([[1, { unschedulable: 1, unplaced }]]),
});
const REFUSED = { isPaused: false, isTried: false, reason: 'installation_refused' } as const;
const openTo = (cap: number | null) => new Map([['*', { cap, weight: 1 }]]);

function plan(demand: KeyDemand[], rules: MatchingRules, alive = 0, most = 100) {
  const live = [{ demandKey: 1, entityId: ACME, scopeRepoId: 0, pool: 'linux', alive }];
  const caps = capsOf(demand, live, rules);
  return planWorkers(demand, live, { caps, jobTimes: new Map(), most });
}

const rivals = (demand: KeyDemand[], rules: MatchingRules) => findRivals(capsOf(demand, [], rules));

describe('planWorkers', () => {
  test.each([
    ['nothing binds', rulesWith(), 3, null],
    ['the entity has its workers', rulesWith({ cap: 3 }), 1, 'at_entity_cap'],
    ['the pool has its workers', rulesWith({ pool: { cap: 3 } }), 1, 'at_pool_cap'],
    ['no node takes ten', rulesWith(nodeless(10)), 0, 'no_capacity'],
    [
      'no node takes some of eight that are on no node yet',
      rulesWith(nodeless(8)),
      2,
      'no_capacity',
    ],
    ['no node takes one, and there is room for more', rulesWith(nodeless(1)), 3, null],
    [
      'the pool may have more on no node',
      rulesWith({ ...nodeless(10), pool: { maxUnschedulable: 11 } }),
      1,
      'no_capacity',
    ],
    [
      'the budget is tighter than the cap',
      rulesWith({ cap: 4, budgets: new Map([[INSTALLATION, 1]]) }),
      1,
      'github_budget',
    ],
    [
      'the cap is tighter than the budget',
      rulesWith({ cap: 3, budgets: new Map([[INSTALLATION, 2]]) }),
      1,
      'at_entity_cap',
    ],
    [
      'there is no budget at all',
      rulesWith({ budgets: new Map([[INSTALLATION, 0]]) }),
      0,
      'github_budget',
    ],
    ['making is stopped', rulesWith({ environmentStopped: true, cap: 0 }), 0, 'making_stopped'],
    ['GitHub is away', rulesWith({ cap: 2, away: 'github_unavailable' }), 0, 'github_unavailable'],
    [
      'the cap is as tight as the budget',
      rulesWith({ cap: 3, budgets: new Map([[INSTALLATION, 1]]) }),
      1,
      'at_entity_cap',
    ],
    [
      'nothing is known of its installation’s budget',
      rulesWith({ usualBudget: 1 }),
      1,
      'github_budget',
    ],
  ])('when %s (C4, P5)', (_name, rules, made, waitReason) => {
    expect(plan([key(1)], rules, 2).get(1)).toMatchObject({ made, waitReason });
  });

  test('leaves the last place in a pool to the oldest job (C4)', () => {
    const rules = rulesWith({ pool: { cap: 1 } });
    const plans = plan([key(1, { oldest: 9 }), key(2, { entityId: 2, oldest: 5 })], rules);
    expect([...plans.values()].map(({ made }) => made)).toEqual([0, 1]);
  });

  test('an installation without any budget holds back its own keys, not those of another App of the entity (C9)', () => {
    const plans = plan(
      [key(1), key(2, { installationId: 32 })],
      rulesWith({ budgets: new Map([[INSTALLATION, 0]]) }),
    );
    expect(plans.get(1)).toMatchObject({ made: 0, waitReason: 'github_budget' });
    expect(plans.get(2)).toMatchObject({ made: 3, waitReason: null });
  });

  test('an entity with several Apps gets no more than the smallest of their budgets (C9)', () => {
    const budgets = new Map([
      [INSTALLATION, 1],
      [32, 5],
    ]);
    const plans = plan([key(1), key(2, { installationId: 32 })], rulesWith({ budgets }));
    expect([...plans.values()].map(({ made, waitReason }) => [made, waitReason])).toEqual([
      [1, 'github_budget'],
      [0, 'github_budget'],
    ]);
  });

  test('keeps to a cap per repository where runners register there, and says which cap is the tightest (C4)', () => {
    const rules = rulesWith({ cap: 9, pool: { repositoryCap: 2 } });
    const plans = plan([key(1, { scopeRepoId: 21 }), key(2)], rules);
    expect(plans.get(1)).toEqual({ made: 2, waitReason: 'at_repository_cap', cap: 2, heldBack: 1 });
    expect(plans.get(2)).toEqual({ made: 3, waitReason: null, cap: 9, heldBack: 0 });
  });

  test.each([
    ['the entity’s cap alone', rulesWith({ cap: 2 }), 'at_entity_cap', 3],
    [
      'the entity’s cap, where its pool has room for one',
      rulesWith({ cap: 2, pool: { cap: 3 } }),
      'at_entity_cap',
      1,
    ],
    [
      'the entity’s cap and the pool’s',
      rulesWith({ cap: 2, pool: { cap: 2 } }),
      'at_entity_cap',
      0,
    ],
    [
      'the entity’s cap, where its pool has more than it may',
      rulesWith({ cap: 2, pool: { cap: 1 } }),
      'at_entity_cap',
      0,
    ],
    ['the entity’s cap, and no node', rulesWith({ cap: 2, ...nodeless(10) }), 'at_entity_cap', 0],
    [
      'the pool’s cap, and GitHub that gives no job',
      rulesWith({ pool: { cap: 2 }, ...unserved(1, true) }),
      'at_pool_cap',
      0,
    ],
  ])(
    'tells how many room under the named cap would make: %s (C10)',
    (_name, rules, waitReason, heldBack) => {
      expect(plan([key(1)], rules, 2).get(1)).toMatchObject({ made: 0, waitReason, heldBack });
    },
  );

  const common = { cap: 3, weight: 1 };
  test.each([
    ['its key’s trial', rulesWith({ pool: { cap: 3 }, ...unserved(1, false) }), 0],
    ['the last common place', rulesWith({ entities: openTo(3), common }), 0],
    ['the pool’s last place but one', rulesWith({ cap: 3, pool: { cap: 4 } }), 1],
    ['its entity’s last place but one', rulesWith({ entities: openTo(4), common }), 1],
  ])(
    'tells how many room under the named cap would make, beside a job that gets %s (C10)',
    (_, rules, more) => {
      expect(plan([key(1)], rules, 2).get(1)).toMatchObject({ made: 1, heldBack: more });
    },
  );

  test('entities that only * admits share its common cap, and named ones go on (C4)', () => {
    const entities = new Map([
      ['acme', { cap: null, weight: 1 }],
      ['*', { cap: 4, weight: 1 }],
    ]);
    const rules = rulesWith({ entities, common: { cap: 5, weight: 1 }, listed: new Set([ACME]) });
    const strangers = [2, 3].map((entityId) =>
      key(entityId, { entityId, login: `stranger-${entityId}` }),
    );
    // One of acme, and two of a stranger who lacks none.
    const live = [key(1), key(9, { entityId: 9 })].map((one, index) =>
      Object.assign({ alive: index + 1 }, one),
    );
    const caps = capsOf([key(1), ...strangers], live, rules);
    const plans = [
      ...planWorkers([key(1), ...strangers], live, {
        caps,
        jobTimes: new Map(),
        most: 100,
      }).values(),
    ];
    expect(plans.map(({ made, waitReason }) => [made, waitReason])).toEqual([
      [3, null],
      [2, 'at_common_cap'],
      [1, 'at_common_cap'],
    ]);
    expect(plans.map(({ cap, heldBack }) => [cap, heldBack])).toEqual([
      [null, 0],
      [4, 1],
      [4, 2],
    ]);
  });

  test.each([
    ['that is paused', failing(1, true, 'workers_failing'), 0, 0, 'workers_failing'],
    ['after its pause', failing(1, false, 'workers_failing'), 0, 1, 'workers_failing'],
    ['whose trial is under way', failing(1, false, 'workers_failing'), 1, 0, 'workers_failing'],
    [
      'whose group lets in too much',
      failing(1, true, 'runner_group_open'),
      0,
      0,
      'runner_group_open',
    ],
    [
      'that GitHub gave no job, after its pause',
      unserved(1, false),
      0,
      1,
      'github_does_not_assign',
    ],
    ['beside another that may not be tried', unserved(2, true), 0, 3, null],
    ['of a suspected pool', { suspected: () => true }, 0, 1, 'pool_suspected'],
    [
      'of a suspected pool, with a worker on its way',
      { suspected: () => true },
      1,
      0,
      'pool_suspected',
    ],
    [
      'of an entity that GitHub refused until now',
      { told: { entities: new Map([[ACME, REFUSED]]), repositories: new Map() } },
      0,
      1,
      'installation_refused',
    ],
    [
      'of such an entity, whose worker is on its way',
      {
        told: {
          entities: new Map([[ACME, { ...REFUSED, isTried: true }]]),
          repositories: new Map(),
        },
      },
      0,
      0,
      'installation_refused',
    ],
    [
      'of another entity',
      { told: { entities: new Map([[9, REFUSED]]), repositories: new Map() } },
      0,
      3,
      null,
    ],
  ] as const)('a key %s (C11)', (_name, given, unassigned, made, waitReason) => {
    expect(plan([key(1, { unassigned })], rulesWith(given)).get(1)).toMatchObject({
      made,
      waitReason,
    });
  });

  test('a key that fails costs no other key of its entity and pool a worker (P6)', () => {
    const plans = plan(
      [key(1), key(2), key(3, { entityId: 2 })],
      rulesWith({ entities: openTo(null), ...failing(1, true, 'workers_failing') }),
    );
    expect([...plans.values()].map(({ made }) => made)).toEqual([0, 3, 3]);
  });

  test('counts under the cap of a repository its live workers, and no other key’s (C4)', () => {
    const rules = rulesWith({ pool: { repositoryCap: 2 } });
    const plans = plan([key(1, { scopeRepoId: 21 }), key(2, { scopeRepoId: 22 })], rules, 1);
    expect([...plans.values()].map(({ made }) => made)).toEqual([1, 2]);
  });

  test('has no reason for workers that only the next pass makes (C4)', () => {
    expect(plan([key(1)], rulesWith(), 0, 2).get(1)).toMatchObject({ made: 2, waitReason: null });
  });

  test('has no reason where nothing is lacking, with any prohibition (P5)', () => {
    expect(
      plan([key(1, { lacking: 0 })], rulesWith({ environmentStopped: true })).get(1),
    ).toMatchObject({ made: 0, waitReason: null });
  });
});

describe('findRivals', () => {
  test('asks for no ages of jobs that cannot come into question (C4)', () => {
    const keys = [key(1), key(2), key(3)];
    expect(rivals(keys, rulesWith({ cap: 2, ...unserved(2, true) }))).toEqual([
      { demandKey: 1, count: 2 },
      { demandKey: 3, count: 2 },
    ]);
  });

  test('asks for the ages of jobs only where several keys of an entity want more than it may have (C4)', () => {
    const two = [key(1), key(2, { lacking: 5 })];
    expect(rivals(two, rulesWith())).toEqual([]);
    expect(rivals([key(1)], rulesWith({ cap: 2 }))).toEqual([]);
    expect(rivals(two, rulesWith({ cap: 8 }))).toEqual([]);
    expect(rivals(two, rulesWith({ cap: 4 }))).toEqual([
      { demandKey: 1, count: 3 },
      { demandKey: 2, count: 4 },
    ]);
  });
});
