import { describe, expect, test } from '@jest/globals';
import { fc } from '@paddock/testing/random-cases';
import { matchesGlob } from './matches-glob.ts';

describe('matchesGlob', () => {
  test.each([
    ['acme', 'Acme', true],
    ['acme', 'acme2', false],
    ['acme-*', 'ACME-labs', true],
    ['acme-*', 'acme-', true],
    ['acme-*', 'acme', false],
    ['*', 'anything', true],
    ['*', 'acme/api', false],
    ['acme/*', 'acme/api', true],
    ['acme/*', 'acme', false],
    ['acme/*', 'acme2/api', false],
    ['*/infra', 'beta/infra', true],
    ['acme/api.*', 'acme/apixv1', false],
    ['acme/a*b*c', 'acme/a-c-b-c', true],
    ['acme/ab*ba', 'acme/aba', false],
    ['a**b', 'axb', true],
    ['x*aba*aba*y', 'xababay', false],
  ])('%s takes %s: %s', (pattern, text, expected) => {
    expect(matchesGlob(pattern, text)).toBe(expected);
  });

  test('accepts the same texts as a regular expression of the same meaning', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 8 });
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '/', '*'), maxLength: 8 });
    fc.assert(
      fc.property(pattern, text, (given, candidate) => {
        const same = new RegExp(`^${given.replaceAll(/\*+/g, '[^/]*')}$`);
        expect(matchesGlob(given, candidate)).toBe(same.test(candidate));
      }),
    );
  });

  test('a pattern that would keep an expression busy for ever is answered at once', () => {
    expect(matchesGlob('a*'.repeat(40_000) + 'b', 'a'.repeat(80_000))).toBe(false);
  });
});
