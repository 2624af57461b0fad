import { describe, expect, test } from '@jest/globals';
import {
  breaker,
  demandOf,
  linux,
  reservationOf,
  snapshotOf,
  storedRules,
  warmKey,
} from '../scenes/snapshot.scene.ts';
import type { Snapshot } from './snapshot.ts';
import { reasonOf, rulesOf, type StoredBreaker, type StoredRules } from './stored-rules.ts';

const rules = (stored: Partial<StoredRules>, given: Partial<Snapshot> = {}) =>
  rulesOf(snapshotOf({ rules: storedRules(stored), ...given }));
const MADE = {
  demandKey: 10,
  entityId: 1,
  scopeRepoId: 7,
  pool: 'linux',
  installationId: 101,
  count: 1,
};
const unserved = (key: number, more: Partial<StoredBreaker> = {}) =>
  breaker({ id: `linux@1#${key}`, failureClass: 'not_assigned', ...more });
const HERE = [reservationOf('a', 10, { scopeRepoId: 7 })];

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

  test.each<[string, Partial<StoredBreaker>, 0 | 1]>([
    ['of the pool', { id: 'linux' }, 0],
    ['of another pool', { id: 'gpu' }, 1],
    ['of the entity', { type: 'installation', id: '1' }, 0],
    ['of another entity', { type: 'installation', id: '2' }, 1],
    ['of the entity in the pool', { id: 'linux@1' }, 0],
    ['of another entity in the pool', { id: 'linux@2' }, 1],
    ['of the repository', { type: 'repository', id: '7' }, 0],
    ['of another repository', { type: 'repository', id: '8' }, 1],
    ['of GitHub', { type: 'github', id: '' }, 0],
    ['of the cluster', { type: 'cluster', id: 'default' }, 0],
  ])(
    'a breaker %s has room for a trial if no reservation is its trial (C11)',
    (_whose, given, trials) => {
      const trialsBeside = (supply: Partial<Snapshot>) => {
        const { everywhere, pools, entitiesInPools, entities, repositories } = rules(
          { breakers: [breaker(given)] },
          supply,
        ).breakers;
        const open = [
          pools.values(),
          entitiesInPools.values(),
          entities.values(),
          repositories.values(),
        ].flatMap((of) => Array.from(of));
        return [everywhere, ...open].flatMap((one) => one?.trials ?? []);
      };
      expect(trialsBeside({})).toEqual([1]);
      expect(trialsBeside({ reservations: HERE })).toEqual([trials]);
      expect(trialsBeside({ made: [MADE] })).toEqual([trials]);
    },
  );

  test('a breaker of an App holds nothing back itself (C11)', () => {
    const { breakers } = rules({ breakers: [breaker({ type: 'app', id: '7' })] });
    expect(breakers).toEqual(rules({}).breakers);
  });

  test('an entity where no App may be used is barred for its stored reason (C9)', () => {
    const { barred } = rules({ barred: { 1: 'installation_gone' } });
    expect([...barred]).toEqual([[1, 'installation_gone']]);
  });

  test('a wait that GitHub asked for has no trial, and gives the reason before an older failure (C11, P4)', () => {
    const wait = breaker({
      type: 'installation',
      id: '1',
      failureClass: 'rate_limited',
      isWait: true,
    });
    const { entities } = rules({
      breakers: [breaker({ type: 'installation', id: '1' }), wait],
    }).breakers;
    expect(entities.get(1)).toEqual({ trials: 0, reason: 'github_budget' });
  });

  test('an entity in a pool is paused while any of its breakers there is, and counts all its failures (C11)', () => {
    const rows = [
      breaker({ id: 'linux@1', isPaused: true }),
      breaker({ id: 'linux@1', failed: 4 }),
      breaker({ id: 'linux@2', isOpen: false }),
      breaker({ id: 'linux@3' }),
    ];
    const { entitiesInPools, failed } = rules({ breakers: rows }).breakers;
    expect([...entitiesInPools]).toEqual([
      ['linux@1', { trials: 1, reason: 'pool_failing', isPaused: true }],
      ['linux@3', { trials: 1, reason: 'pool_failing', isPaused: false }],
    ]);
    expect(Object.fromEntries(failed)).toEqual({ 'linux@1': 7, 'linux@2': 3, 'linux@3': 3 });
  });

  test('a key on trial has room for one worker until it has one, for a job or warm (C11)', () => {
    const stored = {
      breakers: [
        unserved(10),
        unserved(11, { isPaused: true }),
        unserved(12, { isOpen: false }),
        unserved(20),
      ],
    };
    const given = { demand: [demandOf(10)], warm: [warmKey(20, { unassigned: 1 })] };
    const { breakers } = rules(stored, given);
    const reason = 'github_does_not_assign';
    expect(Object.fromEntries(breakers.keys)).toEqual({
      10: { trials: 1, reason },
      11: { trials: 0, reason },
      20: { trials: 0, reason },
    });
    expect([breakers.pools.size, breakers.entitiesInPools.size, breakers.failed.size]).toEqual([
      0, 0, 0,
    ]);
  });

  test.each([
    ['both may be tried', false, false, 1, 'runner_group_open'],
    ['its group is paused', true, false, 0, 'runner_group_open'],
    ['GitHub gives it no job, and its pause is not over', false, true, 0, 'github_does_not_assign'],
    ['both are paused', true, true, 0, 'runner_group_open'],
  ] as const)(
    'a key with an open group and without jobs waits for what allows less: %s (C11)',
    (_name, isGroupPaused, isPaused, trials, reason) => {
      const group = unserved(10, { failureClass: 'runner_group_open', isPaused: isGroupPaused });
      const { keys } = rules({ breakers: [group, unserved(10, { isPaused })] }).breakers;
      expect(keys.get(10)).toEqual({ trials, reason });
    },
  );

  test('a pool without nodes has no trial beside one that this pass makes (C4)', () => {
    const pools = [linux({ trials: 1 }), { ...linux({}), name: 'gpu' }];
    const trials = (given: Partial<Snapshot>) =>
      [...rules({ pools }, given).pools.values()].map((pool) => pool.trials);
    expect(trials({})).toEqual([1, null]);
    expect(trials({ made: [MADE, { ...MADE, pool: 'gpu' }] })).toEqual([0, null]);
  });
});

test.each<[StoredBreaker['type'], string, string]>([
  ['pool', 'pod_refused', 'pool_failing'],
  ['pool', 'outdated_runner', 'runner_outdated'],
  ['pool', 'not_assigned', 'github_does_not_assign'],
  ['app', 'unauthorized', 'installation_refused'],
  ['installation', 'forbidden', 'installation_refused'],
  ['installation', 'not_found', 'installation_gone'],
  ['installation', 'conflict', 'registration_conflict'],
  ['installation', 'rate_limited', 'github_budget'],
  ['repository', 'not_found', 'repository_gone'],
  ['repository', 'forbidden', 'repository_refused'],
  ['github', 'unavailable', 'github_unavailable'],
  ['cluster', 'away', 'cluster_unavailable'],
])(
  'jobs behind failures of %s by %s wait with the reason %s (P5)',
  (type, failureClass, reason) => {
    expect(reasonOf({ type, failureClass })).toBe(reason);
  },
);
