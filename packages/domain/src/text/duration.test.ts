import { describe, expect, test } from '@jest/globals';
import { duration } from './duration.ts';

describe('a length of time', () => {
  test.each([
    [-5_000, '0 s'],
    [0, '0 s'],
    [400, '< 1 s'],
    [1_000, '1 s'],
    [59_999, '59 s'],
    [60_000, '1 min'],
    [200_000, '3 min 20 s'],
    [3_600_000, '1 h'],
    [3_660_000, '1 h 1 min'],
    [86_400_000, '1 d'],
    [90_000_000, '1 d 1 h'],
  ])('%d ms is %s, never negative', (ms, said) => {
    expect(duration(ms)).toBe(said);
  });
});
