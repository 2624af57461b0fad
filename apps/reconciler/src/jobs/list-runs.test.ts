import { describe, expect, test } from '@jest/globals';
import { createAllowances } from './call-allowance.ts';
import { MOST_RUNS, orderRuns } from './list-runs.ts';

const seen = (id: number) => ({ id, etags: [`"${id}"`], unchanged: 2 });
const range = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => from + index);

describe('whose turn it is among a repository’s runs (E2)', () => {
  test.each<[string, number[], number[], number[]]>([
    ['new ones before the known ones, which keep their order', [4, 3, 2, 1], [2, 1], [4, 3, 2, 1]],
    ['the known one whose turn is longest ago first', [2, 1], [1, 2], [1, 2]],
    ['none that is over', [2], [3, 2, 1], [2]],
  ])('%s', (_name, runIds, known, inTurn) => {
    expect(orderRuns(runIds, known.map(seen)).map(({ id }) => id)).toEqual(inTurn);
  });

  test('however many are new, known ones have half of a look', () => {
    const [fresh, known] = [range(1_000, 500), range(1, 500)];
    const look = orderRuns([...fresh, ...known], known.map(seen)).slice(0, MOST_RUNS);
    const ids = look.flatMap(({ id }) => (id < 1_000 ? [id] : []));
    expect(ids).toEqual(range(1, MOST_RUNS / 2));
  });
});

describe('an allowance (E2, P4)', () => {
  const budget = { limit: 5_000, remaining: 10, resetAt: Infinity };
  test.each([
    ['before the first answer', undefined],
    ['from an hour that is over', { ...budget, remaining: 0, resetAt: 500 }],
  ])('has no limit %s', (_name, known) => {
    const allowance = createAllowances(() => known, 10)(1);
    expect(range(0, 99).every(() => allowance.take())).toBe(true);
  });

  test('is a share of the rest, and gives a call back that cost nothing', () => {
    const known = { ...budget };
    const allowance = createAllowances(() => known, 10)(1);
    expect(allowance.take()).toBe(true);
    known.remaining = 9;
    expect(allowance.take()).toBe(false);
    allowance.giveBack();
    known.remaining = 10;
    expect(allowance.take()).toBe(true);
  });
});
