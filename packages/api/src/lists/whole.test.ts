import { expect, test } from '@jest/globals';
import { limit } from './page.ts';
import { githubId } from './whole.ts';

test.each(['1e1', '0x10', ' 7', '7 ', '', '+7', '1_0', '٧', '7n', 'Infinity', true, [7], null])(
  '%j is no number (F5)',
  (given) => {
    expect([limit.safeParse(given).success, githubId().safeParse(given).success]).toEqual([
      false,
      false,
    ]);
  },
);

test.each([
  ['7', 7],
  ['07', 7],
  [7, 7],
])('%j is 7', (given, number) => {
  expect([limit.parse(given), githubId().parse(given)]).toEqual([number, number]);
});
