import { describe, expect, test } from '@jest/globals';
import { evenShare } from './even-share.ts';
import { seededRandom } from './seeded-random.ts';

/** The decisions of an even share, `times` of them. */
const draw = (share: number, times: number, seed: number): boolean[] => {
  const strikes = evenShare(seededRandom(seed));
  return Array.from({ length: times }, () => strikes(share));
};
const strikes = (share: number, times: number, seed: number): number =>
  draw(share, times, seed).filter(Boolean).length;

describe('an even share', () => {
  test.each([0.1, 0.2, 0.5])(
    'of %d strikes within the first 1/share times, with every seed',
    (share) => {
      for (let seed = 1; seed <= 100; seed += 1)
        expect(strikes(share, 1 / share, seed)).toBeGreaterThanOrEqual(1);
    },
  );

  test('approaches the share over many times', () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const struck = strikes(0.2, 1_000, seed);
      expect(struck).toBeGreaterThanOrEqual(200);
      expect(struck).toBeLessThanOrEqual(205);
    }
  });

  test('strikes at random: another seed, other times', () => {
    expect(draw(0.3, 20, 1)).not.toEqual(draw(0.3, 20, 2));
  });

  test.each([
    { share: 0, times: 0 },
    { share: 1, times: 50 },
  ])('of $share strikes $times times in 50', ({ share, times }) => {
    expect(strikes(share, 50, 1)).toBe(times);
  });
});
