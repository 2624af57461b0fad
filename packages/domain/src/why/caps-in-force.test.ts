import { expect, test } from '@jest/globals';
import { rulesWith } from '../scenes/snapshot.scene.ts';
import { capsInForce } from './caps-in-force.ts';

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
