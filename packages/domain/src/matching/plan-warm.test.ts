import { describe, expect, test } from '@jest/globals';
import { snapshotOf, storedRules, warmKey } from '../scenes/snapshot.scene.ts';
import { planWarm } from './plan-warm.ts';
import type { WarmKey } from './snapshot.ts';

const plan = (given: Partial<WarmKey>, most = 100) =>
  planWarm(snapshotOf({ warm: [warmKey(10, given)] }), [], most);
const names = (count: number) => Array.from({ length: count }, (_, n) => `aged-${n}`);

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
        aged: names(5),
        renewing,
      });
      expect(renew).toEqual(names(5).slice(0, count));
      expect(make.map((one) => one.count)).toEqual(count === 0 ? [] : [count]);
    },
  );

  test('makes no more than it may, and none where a job waits for the same place (C10)', () => {
    expect(plan({}, 1).make.map(({ count }) => count)).toEqual([1]);
    expect(plan({}, 0).make).toEqual([]);
    const held = { entityId: 1, pool: 'linux', reason: 'at_entity_cap', count: 1 } as const;
    expect(planWarm(snapshotOf({ warm: [warmKey(10)] }), [held], 100).make).toEqual([]);
  });

  test('stays within the caps (C4, C10)', () => {
    const rules = storedRules({ entities: { '*': { maxWorkers: 1 } } });
    expect(planWarm(snapshotOf({ rules, warm: [warmKey(10)] }), [], 100).make).toMatchObject([
      { demandKey: 10, count: 1 },
    ]);
  });
});
