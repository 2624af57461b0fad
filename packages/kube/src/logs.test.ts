import { expect, test } from '@jest/globals';
import { keepEnd } from './logs.ts';

test.each([
  ['a short log is kept whole', 'one\ntwo\n', 100, 'one\ntwo\n'],
  [
    'the end is kept from the beginning of a line',
    'first line\nsecond\nthird\n',
    15,
    'second\nthird\n',
  ],
  ['a cut that falls between two lines loses none', 'one\ntwo\n', 4, 'two\n'],
  ['one line that is too long is cut itself', 'x'.repeat(50), 10, 'x'.repeat(10)],
  ['a character is never cut in two', 'ééééé', 5, 'éé'],
])('%s', (_title, text, maxBytes, expected) => {
  expect(keepEnd(text, maxBytes)).toBe(expected);
});

test('keeps no more bytes than the caller asked for, with any text', () => {
  const text = 'añ€😀\n'.repeat(20);
  for (let maxBytes = 1; maxBytes < Buffer.byteLength(text) + 2; maxBytes++) {
    const kept = keepEnd(text, maxBytes);
    expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(maxBytes);
    expect(text.endsWith(kept)).toBe(true);
  }
});
