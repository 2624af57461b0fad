import { describe, expect, test } from '@jest/globals';
import type { RateBudget } from '@paddock/github/budget';
import { createAllowance } from './call-allowance.ts';
import { MOST_RUNS, orderRuns } from './list-runs.ts';

const seen = (id: number) => ({ id, etags: [`"${id}"`], unchanged: 2 });
const range = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => from + index);

describe('whose turn it is among a repository’s runs (E2)', () => {
  test.each<[string, number[], number[], number[]]>([
    ['new ones, as GitHub lists them', [3, 2, 1], [], [3, 2, 1]],
    ['new ones before the known ones, which keep their order', [4, 3, 2, 1], [2, 1], [4, 3, 2, 1]],
    ['the known one whose turn is longest ago first', [2, 1], [1, 2], [1, 2]],
    ['none that is over', [2], [3, 2, 1], [2]],
  ])('%s', (_name, runIds, known, inTurn) => {
    expect(orderRuns(runIds, known.map(seen)).map(({ id }) => id)).toEqual(inTurn);
  });

  test('however many are new, known ones have half of a look', () => {
    const [fresh, known] = [range(1_000, 500), range(1, 500)];
    const look = orderRuns([...fresh, ...known], known.map(seen)).slice(0, MOST_RUNS);
    expect(look.filter(({ id }) => id < 1_000).map(({ id }) => id)).toEqual(
      range(1, MOST_RUNS / 2),
    );
  });
});

/** A tenth of a budget. */
const allowanceOf = (known: RateBudget | undefined) =>
  createAllowance(
    () => known,
    10,
    () => 1_000,
  );

describe('an allowance (E2, P4)', () => {
  const budget = { limit: 5_000, remaining: 10, resetAt: 2_000 };
  test.each([
    ['before the first answer', undefined],
    ['from an hour that is over', { ...budget, remaining: 0, resetAt: 500 }],
  ])('has no limit %s', (_name, known) => {
    const { take } = allowanceOf(known);
    expect(Array.from({ length: 99 }, take).every(Boolean)).toBe(true);
  });

  test('is a share of the rest, and gives a call back that cost nothing', () => {
    const known = { ...budget };
    const allowance = allowanceOf(known);
    expect(allowance.take()).toBe(true);
    known.remaining = 9;
    expect(allowance.take()).toBe(false);
    allowance.giveBack();
    known.remaining = 10;
    expect(allowance.take()).toBe(true);
  });
});
