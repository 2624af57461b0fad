import { describe, expect, test } from '@jest/globals';
import { demandOf, failingKey, storedRules } from '../scenes/snapshot.scene.ts';
import { rulesOf, type StoredRules } from './stored-rules.ts';

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
    const told = { reason: 'repository_gone', isPaused: true, isTried: false } as const;
    const nodeless = { unplaced: 2, unschedulable: 1 };
    const kept = rules({
      told: {
        entities: { 1: { ...told, reason: 'installation_gone' } },
        repositories: { 7: told },
      },
      nodeless: { 10: nodeless },
    });
    expect([...kept.told.entities]).toEqual([[1, { ...told, reason: 'installation_gone' }]]);
    expect([...kept.told.repositories]).toEqual([[7, told]]);
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
    ['pod_refused', 'workers_failing'],
    ['outdated_runner', 'runner_outdated'],
    ['not_assigned', 'github_does_not_assign'],
    ['an unknown one', 'workers_failing'],
  ])(
    'jobs behind failures of the class %s wait with the reason %s (P5)',
    (failureClass, reason) => {
      const { failing } = rules({ failing: [failingKey(10, { failureClass })] });
      expect(Object.fromEntries(failing)).toEqual({ 10: { room: 1, reason } });
    },
  );

  test.each([
    ['none in the pause', 'pod_refused', { isPaused: true }, 0],
    ['one after it', 'pod_refused', {}, 1],
    [
      'one beside three whose pods wait for a node',
      'pod_refused',
      { shown: { pod_created: 3 } },
      4,
    ],
    [
      'none beside these in the pause',
      'pod_refused',
      { isPaused: true, shown: { pod_created: 3 } },
      3,
    ],
    ['one beside three that are registered', 'conflict', { shown: { registered: 3 } }, 4],
    [
      'none beside one whose pod may still fail to start',
      'image_pull',
      { shown: { pod_created: 1, started: 0 } },
      1,
    ],
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

  test.each<[string, Partial<StoredRules>, boolean]>([
    ['one other entity fails there', { failing: [failingKey(20)] }, false],
    ['two keys of one other entity do', { failing: [failingKey(20), failingKey(21)] }, false],
    [
      'two others do, the later one first',
      { failing: [failingKey(20, { since: 9 }), failingKey(30, { since: 5 })], started: { 10: 6 } },
      true,
    ],
    ['two others do', { failing: [failingKey(20), failingKey(30)] }, true],
    ['it fails itself, and one other', { failing: [failingKey(10), failingKey(20)] }, false],
    [
      'two others fail in another pool',
      { failing: [failingKey(20, { pool: 'gpu' }), failingKey(30)] },
      false,
    ],
    [
      'two others do, and its worker has run since',
      {
        failing: [failingKey(20, { since: 5 }), failingKey(30, { since: 9 })],
        started: { 10: 10 },
      },
      false,
    ],
    [
      'its worker ran only since the first of them',
      { failing: [failingKey(20, { since: 5 }), failingKey(30, { since: 9 })], started: { 10: 9 } },
      true,
    ],
    [
      'another key’s worker has run since',
      { failing: [failingKey(20), failingKey(30)], started: { 11: 10 } },
      true,
    ],
  ])('a pool is suspected where %s: %s (P6)', (_name, stored, expected) => {
    expect(rules(stored).suspected(demandOf(10))).toBe(expected);
  });
});
