import { describe, expect, test } from '@jest/globals';
import { fc } from '@paddock/testing/random-cases';
import { quantity, readQuantity } from './quantity.ts';

describe('a quantity', () => {
  test.each<[string | number, number]>([
    [0, 0],
    ['0', 0],
    ['5n', 5e-9],
    ['5u', 5e-6],
    ['.25', 0.25],
    ['12.5', 12.5],
    ['1e-10', 1e-10],
    ['1e12', 1e12],
    [4, 4],
    [0.5, 0.5],
    ['500m', 0.5],
    ['1100m', 1.1],
    ['2', 2],
    ['1.', 1],
    ['.5', 0.5],
    ['1e3', 1_000],
    ['2E', 2e18],
    ['2E2', 200],
    ['16G', 16e9],
    ['16Gi', 16 * 1024 ** 3],
    ['1.5Ki', 1_536],
    ['+3', 3],
  ])('%j is %d', (written, amount) => {
    expect(quantity.parse(written)).toBe(written);
    expect(readQuantity(written)).toBe(amount);
  });

  test.each([
    '',
    '16GB',
    '16gb',
    '2 cores',
    '-1',
    -1,
    '1Mib',
    '1K',
    '1mi',
    '1 Gi',
    'Gi',
    '1.2.3',
    Number.NaN,
    true,
    null,
    [1],
  ])('%j is none', (written) => {
    expect(quantity.safeParse(written).error?.issues).toEqual([
      expect.objectContaining({ message: expect.stringContaining('must be a quantity') }),
    ]);
    expect(readQuantity(written)).toBeUndefined();
  });

  test('thousandths are the number that is written with a point', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10_000_000 }), (thousandths) => {
        expect(readQuantity(`${thousandths}m`)).toBe(Number((thousandths / 1_000).toFixed(3)));
      }),
    );
  });
});
