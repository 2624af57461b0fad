import { describe, expect, test } from '@jest/globals';
import { fc } from '@paddock/testing/random-cases';
import { jsonText } from './json-text.ts';

describe('jsonText', () => {
  test('is the JSON of any JSON value that PostgreSQL can hold', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const plain = JSON.stringify(value);
        // oxlint-disable-next-line no-control-regex -- NUL is what this is about
        fc.pre(!/\\u0000|\\ud[89a-f]/i.test(plain));
        expect(JSON.parse(jsonText(value))).toEqual(JSON.parse(plain));
      }),
    );
  });

  test('replaces what JSONB cannot hold, in keys too', () => {
    expect(jsonText({ 'a\0': ['\uD800', { b: 'x\0' }] })).toBe('{"a\uFFFD":["\uFFFD",{"b":"x\uFFFD"}]}');
  });

  test('changes every string and key', () => {
    expect(jsonText({ me: ['me', 1, null] }, (text) => text.replaceAll('me', '*'))).toBe('{"*":["*",1,null]}');
  });

  test('is null for what is no value in JSON, and refuses what has no text', () => {
    expect(jsonText(undefined)).toBe('null');
    expect(() => jsonText({ n: 1n })).toThrow(TypeError);
  });
});
