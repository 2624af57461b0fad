import { expect, test } from '@jest/globals';
import { NO_POOL } from '../pools/place-job.ts';
import {
  blockedBy,
  commonAmong,
  entityRuleOf,
  failingLimit,
  MOST_UNSCHEDULABLE,
  nodeLimit,
  type Told,
} from './matching-rules.ts';
import { rulesWith } from '../scenes/matching-rules.scene.ts';

const acme = { demandKey: 1, entityId: 1, scopeRepoId: 0, login: 'acme', pool: 'linux' };

const PAUSED: Told = { isPaused: true, isTried: false, reason: 'installation_refused' };
const guards = (of: Readonly<Record<number, Told>>) =>
  new Map(Object.entries(of).map(([id, guard]) => [Number(id), guard]));
const toldOf = (
  entities: Readonly<Record<number, Told>>,
  repositories: Readonly<Record<number, Told>> = {},
) => ({ entities: guards(entities), repositories: guards(repositories) });

test.each([
  ['anybody', {}, acme, undefined],
  ['the entity, by its login', { entities: ['ACME'] }, acme, undefined],
  ['the entity, by its id', { entities: ['id:1'] }, acme, undefined],
  ['another entity', { entities: ['beta'] }, acme, 'pool_closed'],
  [
    'the repository',
    { repositories: ['acme/infra'] },
    { ...acme, repoFullName: 'acme/infra' },
    undefined,
  ],
  [
    'another repository',
    { repositories: ['acme/infra'] },
    { ...acme, repoFullName: 'acme/api' },
    'pool_closed',
  ],
  // Its runner group decides there.
  [
    'some repositories of an organisation',
    { repositories: ['acme/infra'] },
    { ...acme, repoFullName: null },
    undefined,
  ],
])('a pool that serves %s (C4)', (_whom, pool, place, expected) => {
  expect(blockedBy(rulesWith({ pool }), place)).toBe(expected);
});

test.each([
  ['by its login', { entities: ['ACME'] }, 'pool_closed'],
  ['by its login in the name of a repository', { repositories: ['acme/infra'] }, 'pool_closed'],
  ['by its id', { entities: ['acme', 'id:1'] }, undefined],
  ['as anybody', {}, undefined],
])(
  'an entity under a login that is another one’s: a pool that serves it %s (C4)',
  (_how, pool, expected) => {
    const entities = new Map([['*', { cap: null, weight: 1 }]]);
    expect(blockedBy(rulesWith({ pool, entities, pins: new Map([['acme', 2]]) }), acme)).toBe(
      expected,
    );
    expect(
      blockedBy(rulesWith({ pool, entities, pins: new Map([['acme', 1]]) }), acme),
    ).toBeUndefined();
  },
);

test.each([
  ['its pool is no longer in force', {}, { ...acme, pool: 'gone' }, 'pool_unknown'],
  ['no pool serves it now', {}, { ...acme, pool: NO_POOL }, 'no_pool_fits'],
  ['its pool is paused', { pool: { paused: true } }, acme, 'pool_paused'],
  [
    'its entity is not listed',
    {},
    { ...acme, entityId: 2, login: 'stranger' },
    'entity_not_allowed',
  ],
  ['its login is another one’s', { pins: new Map([['acme', 2]]) }, acme, 'entity_not_allowed'],
  ['everything is stopped', { environmentStopped: true }, acme, 'making_stopped'],
  ['its pool is stopped', { pool: { stopped: true } }, acme, 'making_stopped'],
  ['its entity is stopped', { stoppedEntities: new Set([1]) }, acme, 'making_stopped'],
  ['another entity is stopped', { stoppedEntities: new Set([2]) }, acme, undefined],
  [
    'its App is suspended',
    { barred: new Map([[1, 'installation_suspended' as const]]) },
    acme,
    'installation_suspended',
  ],
  ['GitHub refuses its entity', { told: toldOf({ 1: PAUSED }) }, acme, 'installation_refused'],
  ['GitHub refuses another entity', { told: toldOf({ 2: PAUSED }) }, acme, undefined],
  [
    'GitHub has refused its entity',
    { told: toldOf({ 1: { ...PAUSED, isPaused: false } }) },
    acme,
    undefined,
  ],
  [
    'GitHub refuses its repository',
    { told: toldOf({}, { 7: PAUSED }) },
    { ...acme, scopeRepoId: 7 },
    'installation_refused',
  ],
  [
    'GitHub refuses a repository of its organisation',
    { told: toldOf({}, { 7: PAUSED }) },
    acme,
    undefined,
  ],
])('no worker is made for a job where %s (C4, P5)', (_, given, place, reason) => {
  expect(blockedBy(rulesWith(given), place)).toBe(reason);
});

test.each([
  ['no entity', new Map<string, number>(), true],
  ['the entity itself', new Map([['acme', 1]]), true],
  ['another entity', new Map([['acme', 2]]), false],
])('a login that is pinned to %s (A12)', (_, pins, isAdmitted) => {
  const rule = entityRuleOf(rulesWith({ pins, cap: 5 }), { entityId: 1, login: 'Acme' });
  expect(rule).toEqual(isAdmitted ? { cap: 5, weight: 1 } : undefined);
});

test('entities share the rule of * only where there is one, and they are not listed (C4)', () => {
  const known = [
    { entityId: 1, login: 'acme' },
    { entityId: 2, login: 'stranger' },
  ];
  const others = [{ entityId: 3 }, { entityId: 4 }];
  expect(commonAmong(rulesWith(), known, others).size).toBe(0);
  const entities = new Map([
    ['acme', { cap: null, weight: 1 }],
    ['*', { cap: null, weight: 1 }],
  ]);
  const rules = rulesWith({ entities, common: { cap: null, weight: 1 }, listed: new Set([1, 4]) });
  expect(commonAmong(rules, known, others)).toEqual(new Set([2, 3]));
});

test('a key without failures, and one whose pods find nodes, has no limit', () => {
  const rules = rulesWith({});
  const none = { room: Infinity, reason: null };
  expect([failingLimit(rules, acme), nodeLimit(rules, acme)]).toEqual([none, none]);
});

test('a pool that the file no longer has lets as many pods wait for a node as any', () => {
  const nodeless = new Map([[1, { unplaced: 3, unschedulable: 3 }]]);
  expect(nodeLimit({ ...rulesWith({}), nodeless, pools: new Map() }, acme)).toEqual({
    room: MOST_UNSCHEDULABLE - 3,
    reason: 'no_capacity',
  });
});
