import { describe, expect, test } from '@jest/globals';
import { type KnownStart, type Line, playForward } from './play-forward.ts';

/** Each worker was 30 s on its way, and had its job for 240 s. */
const alike: KnownStart[] = Array.from({ length: 20 }, () => ({
  wayMs: 30,
  heldMs: 240,
  hasEnded: true,
}));
const lineWith = (given: Partial<Line>): Line => ({
  position: 1,
  toMake: 0,
  onTheWayMs: [],
  busyMs: [],
  surplus: 0,
  known: alike,
  ...given,
});
/** The soonest, the middle one and the latest. */
function spread(given: Partial<Line>): number[] {
  const plays = playForward(lineWith(given));
  return [plays.at(0), plays.at(plays.length / 2), plays.at(-1)].map((ms) => Math.round(ms ?? -1));
}

describe('a start, played forward (P5)', () => {
  test.each<[string, Partial<Line>, number]>([
    ['takes the way of a worker that is made', { toMake: 1 }, 30],
    ['takes the rest of the way of its worker', { onTheWayMs: [10] }, 20],
    ['takes the worker that is ready first', { onTheWayMs: [10, 25, 5] }, 5],
    ['waits for the second worker', { position: 2, onTheWayMs: [10, 25, 5] }, 20],
    ['waits for the end of a job, then for the next worker', { busyMs: [100] }, 170],
    ['waits for the job that ends first', { busyMs: [100, 200, 0] }, 70],
    [
      'waits for the second end after a cap was lowered',
      { busyMs: [100, 200, 0], surplus: 1 },
      170,
    ],
    ['waits for the same worker’s place again', { position: 2, onTheWayMs: [10] }, 290],
    ['waits for it twice', { position: 3, onTheWayMs: [10] }, 560],
    ['follows those before it in two places', { position: 4, onTheWayMs: [10, 0] }, 300],
  ])('%s', (_what, given, ms) => {
    const plays = playForward(lineWith(given));
    expect([plays[0], plays.at(-1)]).toEqual([ms, ms]);
  });

  test('takes the next worker of a place before one that keeps its job for longer', () => {
    const starts = playForward(lineWith({ position: 2, onTheWayMs: [10], busyMs: [1_000] }));
    expect(starts.at(-1)).toBe(290);
  });

  test('is not known where the key has no worker', () => {
    expect(playForward(lineWith({}))).toHaveLength(0);
    expect(playForward(lineWith({ position: 2 }))).toHaveLength(0);
    expect(playForward(lineWith({ busyMs: [100], surplus: 1 }))).toHaveLength(0);
  });

  test.each([
    [1, 50],
    [60, 50],
    [100, 30],
    [1_000, 20],
  ])('is played for place %d %d times', (position, plays) => {
    expect(playForward(lineWith({ position, toMake: 1 }))).toHaveLength(plays);
  });

  test('is as far away again at most where nothing known lasted as long', () => {
    for (const given of [{ onTheWayMs: [60] }, { busyMs: [1_000] }]) {
      const [soonest = 0, , latest = 0] = spread(given);
      const [least, most] = 'busyMs' in given ? [30, 1_030] : [0, 60];
      expect(soonest).toBeGreaterThanOrEqual(least);
      expect(latest).toBeLessThanOrEqual(most);
      expect(latest - soonest).toBeGreaterThan((most - least) / 2);
    }
  });

  test('takes a job that still runs for longer than it has run', () => {
    const busy = { wayMs: 30, heldMs: 300, hasEnded: false };
    const long = { wayMs: 30, heldMs: 5_000, hasEnded: true };
    const known = [...alike, long, ...Array.from({ length: 8 }, () => busy)];
    expect(spread({ known, busyMs: [240] })).toEqual([4_790, 4_790, 4_790]);
    expect(spread({ known: known.slice(-8), busyMs: [240] })[2]).toBeLessThan(90 + 300);
  });

  test('has lengths of starts in a row, and ways of all', () => {
    const short = Array.from({ length: 20 }, () => ({ wayMs: 1, heldMs: 60, hasEnded: true }));
    const known = [...short, ...alike];
    const place = { position: 5, busyMs: [0] };
    const starts = playForward(lineWith({ ...place, known }));
    // Within a stretch of one kind, all five are alike.
    expect(starts.filter((ms) => ms <= 5 * 60 + 5 * 30).length).toBeGreaterThan(15);
    expect(starts.filter((ms) => ms >= 5 * 240).length).toBeGreaterThan(15);
    expect(starts.length - new Set(starts).size).toBeGreaterThan(15);
  });

  test('varies as what is known, and is the same each time', () => {
    const known = alike.map((_, n) => ({
      wayMs: 20 + n,
      heldMs: 100 + n * n,
      hasEnded: n % 4 > 0,
    }));
    const given = { known, onTheWayMs: [25, 3], busyMs: [0, 150, 30], toMake: 1 };
    expect([1, 3, 6, 20].map((position) => spread({ ...given, position }))).toEqual([
      [1, 9, 14],
      [21, 33, 39],
      [139, 201, 352],
      [574, 833, 1_285],
    ]);
  });
});
