import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NO_POOL } from '../pools/place-job.ts';
import {
  ACME,
  demandOf,
  failingKey,
  keyDemand as key,
  rulesWith,
  storedRules,
} from '../scenes/snapshot.scene.ts';
import { capsOf } from './caps.ts';
import {
  type Told,
  blockedBy,
  commonAmong,
  failingLimit,
  MOST_UNSCHEDULABLE,
  nodeLimit,
} from './matching-rules.ts';
import { type StoredRules, rulesOf } from './stored-rules.ts';
import { WAIT_REASONS, type WaitReason } from './wait-reasons.ts';

const acme = { demandKey: 1, entityId: 1, scopeRepoId: 0, login: 'acme', pool: 'linux' };

/** Any entity is admitted, and all share one cap. */
const sharing = {
  entities: new Map([['*', { cap: null, weight: 1 }]]),
  common: { cap: null, weight: 1 },
};
const PAUSED: Told = { isPaused: true, isTried: false, reason: 'installation_refused' };
const guards = (of: Readonly<Record<number, Told>>) =>
  new Map(Object.entries(of).map(([id, guard]) => [Number(id), guard]));
const toldOf = (
  entities: Readonly<Record<number, Told>>,
  repositories: Readonly<Record<number, Told>> = {},
) => ({ entities: guards(entities), repositories: guards(repositories) });

const infra = { repositories: ['acme/infra'] };
test.each([
  ['anybody', {}, {}, undefined],
  ['the entity, by its login', { entities: ['ACME'] }, {}, undefined],
  ['the entity, by its id', { entities: ['id:1'] }, {}, undefined],
  ['another entity', { entities: ['beta'] }, {}, 'pool_closed'],
  ['the repository', infra, { repoFullName: 'acme/infra' }, undefined],
  ['another repository', infra, { repoFullName: 'acme/api' }, 'pool_closed'],
  // Its runner group decides there.
  ['some repositories of an organisation', infra, { repoFullName: null }, undefined],
])('a pool that serves %s (C4)', (_whom, pool, place, expected) => {
  expect(blockedBy(rulesWith({ pool }), { ...acme, ...place })).toBe(expected);
});

test.each([
  [1, undefined],
  [2, 'pool_closed'],
])('a pool that names acme in a repository, with that login pinned to %i (C4)', (id, expected) => {
  const given = { pool: infra, entities: sharing.entities, pins: new Map([['acme', id]]) };
  expect(blockedBy(rulesWith(given), acme)).toBe(expected);
});

test.each<[string, Parameters<typeof rulesWith>[0], object, WaitReason | undefined]>([
  ['its pool is no longer in force', {}, { pool: 'gone' }, 'pool_unknown'],
  ['no pool serves it now', {}, { pool: NO_POOL }, 'no_pool_fits'],
  ['its pool is paused', { pool: { paused: true } }, {}, 'pool_paused'],
  ['its entity is not listed', {}, { entityId: 2, login: 'stranger' }, 'entity_not_allowed'],
  ['its login is another one’s', { pins: new Map([['acme', 2]]) }, {}, 'entity_not_allowed'],
  ['everything is stopped', { environmentStopped: true }, {}, 'making_stopped'],
  ['its pool is stopped', { pool: { stopped: true } }, {}, 'making_stopped'],
  ['its entity is stopped', { stoppedEntities: new Set([1]) }, {}, 'making_stopped'],
  ['another entity is stopped', { stoppedEntities: new Set([2]) }, {}, undefined],
  [
    'its App is suspended',
    { barred: new Map([[1, 'installation_suspended']]) },
    {},
    'installation_suspended',
  ],
  ['GitHub refuses its entity', { told: toldOf({ 1: PAUSED }) }, {}, 'installation_refused'],
  ['GitHub refuses another entity', { told: toldOf({ 2: PAUSED }) }, {}, undefined],
  ['GitHub has refused it', { told: toldOf({ 1: { ...PAUSED, isPaused: false } }) }, {}, undefined],
  [
    'GitHub refuses its repository',
    { told: toldOf({}, { 7: PAUSED }) },
    { scopeRepoId: 7 },
    'installation_refused',
  ],
  ['GitHub refuses one of its repositories', { told: toldOf({}, { 7: PAUSED }) }, {}, undefined],
])('no worker is made for a job where %s (C4, P5)', (_, given, place, reason) => {
  expect(blockedBy(rulesWith(given), { ...acme, ...place })).toBe(reason);
});

test('entities share the rule of * only where there is one, and they are not listed (C4)', () => {
  const known = [
    { entityId: 1, login: 'acme' },
    { entityId: 2, login: 'stranger' },
  ];
  const others = [{ entityId: 3 }, { entityId: 4 }];
  expect(commonAmong(rulesWith(), known, others).size).toBe(0);
  const entities = new Map([['acme', { cap: null, weight: 1 }], ...sharing.entities]);
  const rules = rulesWith({ ...sharing, entities, listed: new Set([1, 4]) });
  expect(commonAmong(rules, known, others)).toEqual(new Set([2, 3]));
});

describe('capsOf', () => {
  test('knows no bound for an entity and a pool without a rule, and blocks their keys (C4)', () => {
    const stranger = key(9, { entityId: 9, login: 'stranger', pool: 'gone', scopeRepoId: 21 });
    const caps = capsOf([stranger], [], rulesWith({ cap: 1, pool: { cap: 1, repositoryCap: 1 } }));
    expect(caps.open).toEqual([]);
    expect(caps.blocks.get(9)).toBe('pool_unknown');
    const limits = [caps.entityLimit(9), caps.commonLimit(9), caps.poolLimit('gone')];
    for (const { room } of limits) expect(room).toBe(Infinity);
    expect([caps.room.key(stranger), caps.keyReason(stranger)]).toEqual([Infinity, null]);
    expect(caps.tightestCap(stranger)).toBeNull();
  });

  test('gives each entity its weight, and those that only * admits one together (C4)', () => {
    const entities = new Map([['acme', { cap: null, weight: 3 }], ...sharing.entities]);
    const rules = rulesWith({ entities, common: { cap: null, weight: 4 } });
    const caps = capsOf([key(1), key(2, { entityId: 2, login: 'x' })], [], rules);
    expect([caps.weight(ACME), caps.weight(2), caps.common.weight]).toEqual([3, 1, 4]);
    expect([caps.common.has(ACME), caps.common.has(2)]).toEqual([false, true]);
    const closed = capsOf([key(1, { entityId: 2, login: 'x' })], [], rulesWith());
    expect([closed.weight(2), closed.common.weight]).toEqual([1, 1]);
  });

  test('opens only keys that lack something', () => {
    const { open } = capsOf([key(1, { lacking: 0 }), key(2)], [], rulesWith());
    expect(open.map(({ demandKey }) => demandKey)).toEqual([2]);
  });
});

const rules = (stored: Partial<StoredRules>) => rulesOf({ rules: storedRules(stored) });

describe('rulesOf', () => {
  test('an entity has the usual cap and weight unless others are set, with a key in any case (B5)', () => {
    const { entities, common } = rules({
      entities: { Acme: {}, beta: { maxWorkers: null, weight: 3 }, '*': { commonMaxWorkers: 5 } },
    });
    expect(entities.get('acme')).toEqual({ cap: 20, weight: 1 });
    expect(entities.get('beta')).toEqual({ cap: null, weight: 3 });
    expect(common).toEqual({ cap: 5, weight: 1 });
    expect(rules({ entities: {} }).common).toBeUndefined();
  });

  test('an entity is listed by its id, or as long as it has the login that is pinned to it (C4)', () => {
    const entities = { 'id:1': {}, Acme: {}, gone: {} };
    const { listed } = rules({
      entities,
      pins: { acme: 2, gone: 3, other: 4 },
      currentPins: ['acme', 'other'],
    });
    expect([...listed]).toEqual([1, 2]);
  });

  test('an entity where no App may be used is barred for its stored reason (C9)', () => {
    const { barred } = rules({ barred: { 1: 'installation_gone' } });
    expect([...barred]).toEqual([[1, 'installation_gone']]);
  });

  test('what GitHub told of an entity, a repository and nodes is kept by its id (C11)', () => {
    const gone = { reason: 'repository_gone', isPaused: true, isTried: false } as const;
    const away = { ...gone, reason: 'installation_gone' } as const;
    const nodeless = { unplaced: 2, unschedulable: 1 };
    const told = { entities: { 1: away }, repositories: { 7: gone } };
    const kept = rules({ told, nodeless: { 10: nodeless } });
    expect([...kept.told.entities]).toEqual([[1, away]]);
    expect([...kept.told.repositories]).toEqual([[7, gone]]);
    expect([...kept.nodeless]).toEqual([[10, nodeless]]);
  });

  test.each([
    [[], undefined],
    [['default'], 'cluster_unavailable'],
    [['default', 'github'], 'github_unavailable'],
  ])('while %j is away jobs wait with the reason %s (C11)', (away, reason) => {
    expect(rules({ away }).away).toBe(reason);
  });

  test.each([
    ['none in the pause', 'pod_refused', { isPaused: true }, 0],
    ['one after it', 'pod_refused', {}, 1],
    ['one beside three without a node', 'pod_refused', { shown: { pod_created: 3 } }, 4],
    ['none beside these', 'pod_refused', { isPaused: true, shown: { pod_created: 3 } }, 3],
    ['one beside three that are registered', 'conflict', { shown: { registered: 3 } }, 4],
    ['none beside one yet to start', 'image_pull', { shown: { pod_created: 1, started: 0 } }, 1],
    ['none beside one that may get no job', 'not_assigned', { shown: { started: 1 } }, 1],
  ])('a failing key makes %s (%s) (C11, P4)', (_name, failureClass, given, room) => {
    const { failing } = rules({ failing: [failingKey(10, { failureClass, ...given })] });
    expect(failing.get(10)?.room).toBe(room);
  });

  test('a key with an open group waits for the group, whatever failed there before (C11)', () => {
    const { failing } = rules({ failing: [failingKey(10)], openGroups: { 10: true, 11: false } });
    expect(Object.fromEntries(failing)).toEqual({
      10: { room: 0, reason: 'runner_group_open' },
      11: { room: 1, reason: 'runner_group_open' },
    });
  });

  const two = { failing: [failingKey(20), failingKey(30)] };
  const later = { failing: [failingKey(20, { since: 5 }), failingKey(30, { since: 9 })] };
  test.each<[string, Partial<StoredRules>, boolean]>([
    ['one other entity fails there', { failing: [failingKey(20)] }, false],
    ['two keys of one other entity do', { failing: [failingKey(20), failingKey(21)] }, false],
    [
      'two others do, the later one first',
      { failing: later.failing.toReversed(), started: { 10: 6 } },
      true,
    ],
    ['two others do', two, true],
    [
      'two others did, and one of them has no jobs any more',
      { failing: [failingKey(20), failingKey(30, { isInUse: false })] },
      false,
    ],
    ['it fails itself, and one other', { failing: [failingKey(10), failingKey(20)] }, false],
    [
      'two others fail in another pool',
      { failing: [failingKey(20, { pool: 'gpu' }), failingKey(30)] },
      false,
    ],
    ['two others do, and its worker has run since', { ...later, started: { 10: 10 } }, false],
    ['its worker ran only since the first of them', { ...later, started: { 10: 9 } }, true],
    ['another key’s worker has run since', { ...two, started: { 11: 10 } }, true],
  ])('a pool is suspected where %s: %s (P6)', (_name, stored, expected) => {
    expect(rules(stored).suspected(demandOf(10))).toBe(expected);
  });
});

test('every reason is explained to operators, and no former one (P5)', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/matching.md'), 'utf8');
  const explained = [...page.matchAll(/^\| `(\w+)`/gm)].map(([, reason]) => reason);
  expect(new Set(explained)).toEqual(new Set(Object.keys(WAIT_REASONS)));
});

test('a key without failures, and one whose pods find nodes, has no limit', () => {
  const none = { room: Infinity, reason: null };
  expect([failingLimit(rulesWith({}), acme), nodeLimit(rulesWith({}), acme)]).toEqual([none, none]);
});

test('a pool that the file no longer has lets as many pods wait for a node as any', () => {
  const nodeless = new Map([[1, { unplaced: 3, unschedulable: 3 }]]);
  expect(nodeLimit({ ...rulesWith({}), nodeless, pools: new Map() }, acme)).toEqual({
    room: MOST_UNSCHEDULABLE - 3,
    reason: 'no_capacity',
  });
});
