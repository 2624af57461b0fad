import { describe, expect, test } from '@jest/globals';
import { Secret } from '@paddock/runtime/secret';
import { maskSecrets, messageOf, storedMessage } from './mask-secrets.ts';

describe('maskSecrets', () => {
  const mask = maskSecrets([new Secret('hunter2-hunter2'), new Secret('no')]);

  test('masks the given secrets at any place, but no value too short to be one (D1)', () => {
    expect(mask('login hunter2-hunter2 failed, no hunter2-hunter2!')).toBe(
      'login [secret] failed, no [secret]!',
    );
  });

  test.each([
    ['installation token', 'got ghs_16C7e42F292c6912E7710c838347Ae!', 'got [secret]!'],
    ['fine-grained token', 'github_pat_11ABCDEFG0123456789 refused', '[secret] refused'],
    ['token of the API', `with paddock_${'0a'.repeat(8)}_${'a-_'.repeat(14)}x!`, 'with [secret]!'],
    ['JSON web token', 'eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOjF9.c2lnbmF0dXJl is', '[secret] is'],
    ['authorization header', 'X: Bearer abcdef123456', 'X: Bearer [secret]'],
    ['password in a DSN', 'to postgresql://me:s3cret@db/x', 'to postgresql://me:[secret]@db/x'],
    [
      'private key',
      'bad -----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----',
      'bad [secret]',
    ],
    ['half a private key', '-----BEGIN PRIVATE KEY-----\nMIIE', '[secret]'],
  ])('masks what looks like a credential: %s (D1)', (_what, text, masked) => {
    expect(mask(text)).toBe(masked);
  });

  test('leaves ordinary messages as they are', () => {
    const text =
      'POST https://api.github.com/orgs/acme/actions/runners answered 409 for pdk-abc123-1';
    expect(mask(text)).toBe(text);
  });
});

describe('storedMessage', () => {
  const mask = maskSecrets([new Secret('abcdefghij')]);

  test('is cut to 2 000 characters, after the secrets have gone', () => {
    const stored = storedMessage(`${'x'.repeat(1_995)}abcdefghij`, mask);
    expect(stored).toBe(`${'x'.repeat(1_995)}[secr`);
  });

  test('holds nothing that PostgreSQL refuses', () => {
    expect(storedMessage('a\0b\uD800c', mask)).toBe('a\uFFFDb\uFFFDc');
    expect(storedMessage(`${'x'.repeat(1_999)}😀`, mask).isWellFormed()).toBe(true);
  });
});

test.each([
  [new Error('no route', { cause: new Error('ECONNREFUSED') }), 'no route: ECONNREFUSED'],
  [new TypeError(''), 'TypeError'],
  ['plain text', 'plain text'],
  [undefined, 'a thrown undefined'],
  [null, 'a thrown null'],
  [{ authorization: 'x' }, 'a thrown object'],
  [Object.assign(new Error('outer'), { message: { odd: true } }), 'Error'],
])('messageOf %p is %p', (thrown, message) => {
  expect(messageOf(thrown)).toBe(message);
});
