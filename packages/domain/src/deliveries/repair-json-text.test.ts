import { describe, expect, test } from '@jest/globals';
import { fc } from '@paddock/testing/random-cases';
import { repairJsonText } from './repair-json-text.ts';

describe('repairJsonText', () => {
  test('replaces NUL and lone surrogates, however they are written (B9)', () => {
    expect(repairJsonText(String.raw`{"a\u0000":"\uD83D x \ude00 \udE00\uD83d"}`)).toEqual({
      text: String.raw`{"a\ufffd":"\ufffd x \ufffd \ufffd\ufffd"}`,
      isRepaired: true,
    });
  });

  test('leaves pairs, escaped backslashes and big numbers as they are', () => {
    const text = String.raw`{"pair":"\ud83d\uDE00","path":"C:\\u0000 \\\\ud800","number":12345678901234567890.10}`;
    expect(repairJsonText(text)).toEqual({ text, isRepaired: false });
    expect(repairJsonText(String.raw`["\\u0000\u0000"]`)).toEqual({ text: String.raw`["\\u0000\ufffd"]`, isRepaired: true });
  });

  test('what JavaScript decodes from it is what it decoded before, with the bad characters replaced', () => {
    const anyText = fc
      .array(fc.oneof(fc.constantFrom('\0', '\ud83d', '\ude00', '\\', 'u0000', '"'), fc.string({ unit: 'binary' })))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(anyText, (value) => {
        // Escapes every unit, so that pairs, too, appear as two escapes.
        const escaped = Array.from({ length: value.length }, (_, index) => value.charCodeAt(index)).map(
          (unit) => `\\u${unit.toString(16).padStart(4, '0')}`,
        );
        for (const json of [JSON.stringify(value), `"${escaped.join('')}"`]) {
          expect(JSON.parse(repairJsonText(json).text)).toBe(value.toWellFormed().replaceAll('\0', '\ufffd'));
        }
      }),
    );
  });
});
