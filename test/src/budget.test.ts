import { expect, test } from '@jest/globals';
import { lowered, overruns } from '../../tools/budget/compare.ts';

const BUDGET = {
  tests: { most: 100, goal: 50, folders: { 'apps/cli': 60, 'packages/db': 40 } },
  tables: { most: 25 },
};

test('what is above its bound is named, with the folders that grew', () => {
  const counts = {
    tests: { total: 108, folders: { 'apps/cli': 50, 'packages/db': 45, 'packages/new': 13 } },
    tables: { total: 25 },
    kinds: { total: 1 },
  };
  expect(overruns(BUDGET, counts)).toEqual([
    'tests: 108, but at most 100 are allowed. Grown: packages/new 0 → 13, packages/db 40 → 45.',
    'budget.json has no bound for kinds.',
  ]);
});

test.each([
  [70, { most: 70, goal: 50 }],
  [40, { most: 50 }],
  [108, { most: 100, goal: 50 }],
])('a bound falls to %i, but not below its goal, and never rises', (total, tests) => {
  expect(lowered(BUDGET, { tests: { total }, tables: { total: 30 } })).toEqual({
    tests,
    tables: { most: 25 },
  });
});
