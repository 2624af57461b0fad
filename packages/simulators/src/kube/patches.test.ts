import { describe, expect, test } from '@jest/globals';
import { evenShare } from '../even-share.ts';
import { seededRandom } from '../seeded-random.ts';
import { applyPatch } from './patches.ts';

const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json; charset=utf-8';
const JSON_PATCH = 'application/json-patch+json';

describe('applyPatch', () => {
  test.each<[string, string, unknown, unknown, unknown]>([
    [
      'a merge patch joins objects and replaces lists',
      MERGE,
      { a: { x: 1 }, l: [1] },
      { a: { y: 2 }, l: [2] },
      { a: { x: 1, y: 2 }, l: [2] },
    ],
    ['null removes', MERGE, { a: 1, b: 2 }, { a: null }, { b: 2 }],
    [
      'a strategic patch joins known lists by their key',
      STRATEGIC,
      { conditions: [{ type: 'Ready', status: 'False' }] },
      { conditions: [{ type: 'Ready', status: 'True' }, { type: 'New' }] },
      { conditions: [{ type: 'Ready', status: 'True' }, { type: 'New' }] },
    ],
    [
      'a strategic patch replaces other lists',
      STRATEGIC,
      { containerStatuses: [1, 2] },
      { containerStatuses: [3] },
      { containerStatuses: [3] },
    ],
    [
      'a strategic patch can delete an item',
      STRATEGIC,
      { env: [{ name: 'a' }] },
      { env: [{ $patch: 'delete', name: 'a' }] },
      { env: [] },
    ],
    [
      'a JSON patch runs its operations in order',
      JSON_PATCH,
      { m: { 'a/b': 1 }, l: [1] },
      [
        { op: 'test', path: '/m/a~1b', value: 1 },
        { op: 'replace', path: '/m/a~1b', value: 2 },
        { op: 'add', path: '/l/-', value: 3 },
        { op: 'remove', path: '/l/0' },
        { op: 'add', path: '/n', value: null },
      ],
      { m: { 'a/b': 2 }, l: [3], n: null },
    ],
  ])('%s', (_title, type, object, patch, expected) => {
    const before = structuredClone(object);
    expect(applyPatch(type, object, patch)).toEqual(expected);
    expect(object).toEqual(before);
  });

  test.each<[string, unknown, string]>([
    [JSON_PATCH, [{ op: 'remove', path: '/missing' }], 'no /missing'],
    [JSON_PATCH, [{ op: 'test', path: '/a', value: 2 }], 'no /a'],
    [JSON_PATCH, {}, 'list of operations'],
    ['application/json', {}, 'unknown format'],
  ])('%s with %j is refused', (type, patch, why) => {
    expect(() => applyPatch(type, { a: 1 }, patch)).toThrow(why);
  });
});

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
