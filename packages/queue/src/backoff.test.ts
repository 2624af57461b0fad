import { describe, expect, test } from '@jest/globals';
import { fc } from '@paddock/testing/random-cases';
import { backoffMs } from './decide-settlement.ts';

const RULES = { firstMs: 30_000, longestMs: 3_600_000 };

describe('backoffMs', () => {
  test.each([
    [1, 30_000],
    [2, 60_000],
    [3, 120_000],
    [7, 1_920_000],
    [8, 3_600_000],
    [2_000, 3_600_000],
  ])('waits after failure %i for %i ms in the middle of its window (D4)', (attempt, expected) => {
    expect(backoffMs(attempt, RULES, () => 0.5)).toBe(expected);
  });

  test('stays within 20 % of the exact wait, after the cap too (D4)', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (attempt, random) => {
          const exact = Math.min(30_000 * 2 ** (attempt - 1), 3_600_000);
          const wait = backoffMs(attempt, RULES, () => random);
          expect(wait).toBeGreaterThanOrEqual(Math.floor(exact * 0.8));
          expect(wait).toBeLessThanOrEqual(Math.ceil(exact * 1.2));
        },
      ),
    );
  });
});
