import { describe, expect, test } from '@jest/globals';
import { unreadRun, MOST_RUNS, orderRuns } from './list-jobs-of-runs.ts';

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

  test('each run keeps its known facts', () => {
    expect(orderRuns([2, 1], [seen(1)])).toEqual([unreadRun(2), seen(1)]);
  });

  test('however many are new, known ones have half of a look', () => {
    const [fresh, known] = [range(1_000, 500), range(1, 500)];
    const look = orderRuns([...fresh, ...known], known.map(seen)).slice(0, MOST_RUNS);
    expect(look.filter(({ id }) => id < 1_000).map(({ id }) => id)).toEqual(
      range(1, MOST_RUNS / 2),
    );
  });
});
