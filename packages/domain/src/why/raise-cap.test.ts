import { describe, expect, test } from '@jest/globals';
import type { PassPlan } from '../matching/plan-pass.ts';
import {
  demandOf,
  linux,
  reservationOf,
  returnableOf,
  rulesWith,
  snapshotOf,
  storedRules,
} from '../scenes/snapshot.scene.ts';
import { capsInForce, settingOf, smallestRaise, withLimit, workersAfter } from './raise-cap.ts';
import type { CapFacts } from './wait-facts.ts';

const place = { entityId: 9, login: 'acme', pool: 'linux' };
const big = { ...linux({ cap: 8 }), name: 'big' };
const everybody = { maxWorkers: 2, commonMaxWorkers: 3, commonWeight: 4 };
const ENTITIES = { '*': everybody, ACME: { maxWorkers: 5, weight: 6 }, lab: { maxWorkers: 7 } };
const RULES = storedRules({ pools: [linux({ cap: 1 }), big], entities: ENTITIES });

const raised = (kind: CapFacts['kind'], at = place) => withLimit(RULES, kind, at, 50);

describe('another limit changes one cap alone (P5)', () => {
  test('of the entity, under its login however it is written', () => {
    expect(raised('at_entity_cap')).toEqual({
      ...RULES,
      entities: { ...ENTITIES, ACME: { maxWorkers: 50, weight: 6 } },
    });
  });

  test('of the entity, under its id before its login', () => {
    const byId = { ...ENTITIES, 'id:9': { weight: 2 } };
    expect(withLimit({ ...RULES, entities: byId }, 'at_entity_cap', place, 50)).toEqual({
      ...RULES,
      entities: { ...byId, 'id:9': { maxWorkers: 50, weight: 2 } },
    });
  });

  test('of each entity that only * admits', () => {
    expect(raised('at_entity_cap', { ...place, login: 'sam' })).toEqual({
      ...RULES,
      entities: { ...ENTITIES, '*': { ...everybody, maxWorkers: 50 } },
    });
  });

  test('of an entity that nothing admits, by an entry of its own', () => {
    const { lab } = ENTITIES;
    expect(withLimit({ ...RULES, entities: { lab } }, 'at_entity_cap', place, 50)).toEqual({
      ...RULES,
      entities: { lab, acme: { maxWorkers: 50 } },
    });
  });

  test('of all entities that only * admits', () => {
    expect(raised('at_common_cap')).toEqual({
      ...RULES,
      entities: { ...ENTITIES, '*': { ...everybody, commonMaxWorkers: 50 } },
    });
  });

  test('of the job’s pool', () => {
    expect(raised('at_pool_cap')).toEqual({ ...RULES, pools: [linux({ cap: 50 }), big] });
  });

  test('of each repository in the job’s pool', () => {
    expect(raised('at_repository_cap')).toEqual({
      ...RULES,
      pools: [{ ...linux({ cap: 1 }), repositoryCap: 50 }, big],
    });
  });
});

test.each<[CapFacts['kind'], string, string]>([
  ['at_entity_cap', 'acme', 'the cap’s name'],
  ['at_entity_cap', 'sam', "maxWorkers of '*'"],
  ['at_pool_cap', 'sam', 'the cap’s name'],
])('the setting of %s for %s is %s (P5)', (kind, login, setting) => {
  const cap = { kind, name: 'the cap’s name', used: 2, limit: 2 };
  expect(settingOf(RULES, cap, { ...place, login })).toBe(setting);
});

const JOB = {
  entityId: 1,
  login: 'acme',
  pool: 'linux',
  scopeRepoId: 0,
  repoFullName: 'acme/api',
};

const live = (entityId: number, pool: string, scopeRepoId: number, alive: number) => ({
  demandKey: entityId * 100 + scopeRepoId,
  entityId,
  scopeRepoId,
  pool,
  alive,
});

const LIVE = [
  live(1, 'linux', 0, 2),
  live(1, 'linux', 7, 4),
  live(1, 'big', 0, 8),
  live(2, 'linux', 0, 16),
  live(3, 'big', 0, 32),
];

const caps = (job: typeof JOB, rules: Parameters<typeof rulesWith>[0]) =>
  capsInForce(job, rulesWith(rules), LIVE, []).map(({ kind, used, limit }) => [kind, used, limit]);

test('only caps that bind are named, with what their workers use (P5)', () => {
  expect(caps(JOB, {})).toEqual([]);
  expect(caps(JOB, { cap: 20, pool: { cap: 30, repositoryCap: 5 } })).toEqual([
    ['at_entity_cap', 14, 20],
    ['at_pool_cap', 22, 30],
  ]);
  expect(caps({ ...JOB, scopeRepoId: 7 }, { cap: 0, pool: { repositoryCap: 5 } })).toEqual([
    ['at_entity_cap', 14, 0],
    ['at_repository_cap', 4, 5],
  ]);
});

test('the common cap counts the entities that only * admits, and binds them alone (P5)', () => {
  const entities = new Map([
    ['*', { cap: 10, weight: 1 }],
    ['id:2', { cap: null, weight: 1 }],
  ]);
  const rules = { entities, common: { cap: 50, weight: 1 }, listed: new Set([2]) };
  expect(caps(JOB, rules)).toEqual([
    ['at_entity_cap', 14, 10],
    ['at_common_cap', 46, 50],
  ]);
  expect(caps({ ...JOB, entityId: 2, login: 'lab' }, rules)).toEqual([]);
  // The first job of its entity.
  expect(caps({ ...JOB, entityId: 4, login: 'sam' }, rules)).toEqual([
    ['at_entity_cap', 0, 10],
    ['at_common_cap', 46, 50],
  ]);
});

test('each cap names the workers under it that do not go (P5)', () => {
  const held = [
    [1, 'linux', 7],
    [1, 'big', 0],
    [2, 'linux', 0],
    [3, 'big', 0],
  ].map(([entityId = 0, pool = '', scopeRepoId = 0], nth) => ({
    name: `pdk-${nth + 1}`,
    entityId: Number(entityId),
    pool: String(pool),
    scopeRepoId: Number(scopeRepoId),
    heldBy: 'its log cannot be read',
    since: new Date(0),
  }));
  const rules = rulesWith({ cap: 20, pool: { cap: 30, repositoryCap: 5 } });
  const named = capsInForce({ ...JOB, scopeRepoId: 7 }, rules, LIVE, held);
  expect(named.map((cap) => [cap.kind, cap.held?.map(({ name }) => name)])).toEqual([
    ['at_entity_cap', ['pdk-1', 'pdk-2']],
    ['at_pool_cap', ['pdk-1', 'pdk-3']],
    ['at_repository_cap', ['pdk-1']],
  ]);
});

test('a login that is pinned to another entity gives no cap (P5)', () => {
  expect(caps(JOB, { cap: 20, pins: new Map([['acme', 99]]) })).toEqual([]);
});

test.each([1, 2, 3, 5, 63, 64, 65, 999, 1_000])('a raise of %i is found (P5)', async (needed) => {
  const asked: number[] = [];
  const found = await smallestRaise({ least: 1, most: 1_000 }, (raise) => {
    asked.push(raise);
    return Promise.resolve(raise >= needed);
  });
  expect(found).toBe(needed);
  expect(asked.length).toBeLessThanOrEqual(21);
  expect(new Set(asked).size).toBe(asked.length);
});

test('begins with the least that can be enough, and ends with the most (P5)', async () => {
  const asked: number[] = [];
  const never = (raise: number) => {
    asked.push(raise);
    return Promise.resolve(false);
  };
  expect(await smallestRaise({ least: 3, most: 10 }, never)).toBeUndefined();
  expect(asked).toEqual([3, 6, 10]);
  expect(await smallestRaise({ least: 3, most: 10 }, () => Promise.resolve(true))).toBe(3);
});

const snapshot = snapshotOf({
  demand: [demandOf(20, { unassigned: 16 }), demandOf(10, { unassigned: 4 })],
  reservations: [
    reservationOf('b', 20),
    reservationOf('a1', 10),
    reservationOf('a2', 10),
    reservationOf('a3', 10, { stopping: true }),
  ],
  returnable: [
    returnableOf('r1', 10),
    returnableOf('r2', 10),
    returnableOf('r3', 10),
    returnableOf('s', 20),
  ],
});

const making = (demandKey: number, count: number): PassPlan['make'][number] => ({
  demandKey,
  entityId: 1,
  scopeRepoId: 0,
  pool: 'linux',
  installationId: 101,
  count,
});

const NOTHING: PassPlan = {
  takeBack: [],
  giveBack: [],
  make: [],
  stop: [],
  warm: { mark: [], renew: [], make: [] },
  states: [],
  lacking: 0,
};

test.each<[string, Partial<PassPlan>, number]>([
  ['those it has, if the pass leaves it alone', {}, 4],
  ['those that are made for it', { make: [making(20, 64), making(10, 8)] }, 12],
  ['its own that serve again', { takeBack: ['s', 'r1', 'r3'] }, 6],
  ['not its own that go', { giveBack: ['b', 'a1'] }, 3],
  ['no less for one that was stopping before it goes', { giveBack: ['a3', 'a2'] }, 3],
  ['all of that', { make: [making(10, 8)], takeBack: ['r1', 'r2'], giveBack: ['a1'] }, 13],
])('after a pass a key has %s (P5)', (_what, plan, workers) => {
  expect(workersAfter(snapshot, { ...NOTHING, ...plan }, 10)).toBe(workers);
});

test('a key that the pass does not know has no workers after it (P5)', () => {
  expect(workersAfter(snapshot, { ...NOTHING, make: [making(10, 8)] }, 30)).toBe(0);
});
