import { expect, test } from '@jest/globals';
import { randomNumbers } from './random-numbers.ts';

test('random numbers follow from their seed', () => {
  const random = randomNumbers(1);
  expect([random(), random(), random()]).toEqual([
    0.23645552527159452, 0.3692706737201661, 0.5042420323006809,
  ]);
});
