import { expect, test } from '@jest/globals';
import { smallestRaise } from './raise-cap.ts';

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
