import type { RateBudget } from '@paddock/github/budget';
import { describe, expect, test } from '@jest/globals';
import { createAllowance } from './call-allowance.ts';

/** How many calls are allowed if each of them costs one. */
function count(budget: RateBudget | undefined, percent = 10): number {
  let remaining = budget?.remaining ?? 0;
  const allowance = createAllowance(
    () => budget && { ...budget, remaining },
    percent,
    () => 1_000,
  );
  let taken = 0;
  while (taken < 1_000 && allowance.take()) {
    taken++;
    remaining--;
  }
  return taken;
}

const budget = (remaining: number, resetAt = 2_000): RateBudget => ({
  limit: 5_000,
  remaining,
  resetAt,
});

describe('an allowance (E2, P4)', () => {
  test.each([
    ['a tenth of the rest', budget(100), 10],
    ['a tenth, counted from when the pass began', budget(5_000), 500],
    ['none of an empty budget', budget(0), 0],
    ['no limit before the first answer', undefined, 1_000],
    ['no limit from an hour that is over', budget(0, 500), 1_000],
  ])('%s', (_name, told, calls) => {
    expect(count(told)).toBe(calls);
  });

  test('gives a call back that cost nothing', () => {
    let remaining = 10;
    const allowance = createAllowance(
      () => budget(remaining),
      10,
      () => 1_000,
    );
    expect(allowance.take()).toBe(true);
    remaining = 9;
    expect(allowance.take()).toBe(false);
    allowance.giveBack();
    remaining = 10;
    expect(allowance.take()).toBe(true);
  });
});
