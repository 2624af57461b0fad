import { describe, expect, test } from '@jest/globals';
import { fc } from '@paddock/testing/random-cases';
import { quoteHugeNumbers } from './quote-huge-numbers.ts';

describe('quoteHugeNumbers', () => {
  test.each([
    ['{"n":1e999999}', '{"n":"1e999999"}'],
    [
      '[-1.5E+2000,12345678901234567890.50,1e1000,0]',
      '["-1.5E+2000",12345678901234567890.50,1e1000,0]',
    ],
    [
      `{"1e9999":"1e9999 \\" 1e9999","\\\\":1e-9999}`,
      `{"1e9999":"1e9999 \\" 1e9999","\\\\":"1e-9999"}`,
    ],
    ['9'.repeat(1_001), `"${'9'.repeat(1_001)}"`],
    ['9'.repeat(1_000), '9'.repeat(1_000)],
    [`"${'x'.repeat(2_000)}"`, `"${'x'.repeat(2_000)}"`],
    ['1.55e9999', '"1.55e9999"'],
    ['1', '1'],
    ['{}', '{}'],
  ])('%s', (json, expected) => {
    expect(quoteHugeNumbers(json)).toBe(expected);
  });

  test('JSON without such numbers stays as it is (B9)', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(quoteHugeNumbers(json)).toBe(json);
      }),
    );
  });
});
