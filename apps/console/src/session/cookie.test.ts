import { describe, expect, test } from '@jest/globals';
import { cookieWith, cookieWithout, sessionOf } from './cookie.ts';

const TEXT = `${'0'.repeat(16)}_${'1'.repeat(16)}_${'A'.repeat(43)}`;
const PARTS = { ownerId: '0'.repeat(16), id: '1'.repeat(16), secret: 'A'.repeat(43) };
const cookie = `theme=dark; paddock=${TEXT}; x=y`;

describe('the session’s cookie', () => {
  test('is kept from scripts and other sites, and from plain HTTP where there is TLS', () => {
    expect(cookieWith('S', 'https://ci.example')).toBe(
      '__Host-paddock=S; Path=/; HttpOnly; SameSite=Strict; Secure',
    );
    expect(cookieWith('S', 'http://localhost:8084')).toBe(
      'paddock=S; Path=/; HttpOnly; SameSite=Strict',
    );
    expect(cookieWithout('https://ci.example')).toBe(
      '__Host-paddock=; Path=/; HttpOnly; SameSite=Strict; Secure; Max-Age=0',
    );
  });

  test.each([
    ['GET', {}, PARTS],
    ['GET', { 'sec-fetch-site': 'none' }, PARTS],
    ['HEAD', { 'sec-fetch-site': 'same-origin' }, PARTS],
    ['GET', { 'sec-fetch-site': 'cross-site' }, undefined],
    ['GET', { 'sec-fetch-site': 'same-site' }, undefined],
    ['POST', {}, undefined],
    ['POST', { 'sec-fetch-site': 'same-origin' }, undefined],
    ['POST', { 'x-paddock-page': '1' }, PARTS],
    ['DELETE', { 'x-paddock-page': '1', 'sec-fetch-site': 'same-origin' }, PARTS],
    ['DELETE', { 'x-paddock-page': '1', 'sec-fetch-site': 'same-site' }, undefined],
    ['POST', { 'x-paddock-page': '1', 'sec-fetch-site': 'none' }, undefined],
  ])('counts for %s with %j only as the page sends it', (method, headers, expected) => {
    expect(sessionOf(method, { cookie, ...headers })).toEqual(expected);
  });

  test.each([
    [`__Host-paddock=${TEXT}`, PARTS],
    [`paddock=${TEXT}x`, undefined],
    [`other-paddock=${TEXT}`, undefined],
    ['paddock=', undefined],
    ['', undefined],
  ])('is found in "%s"', (text, expected) => {
    expect(sessionOf('GET', { cookie: text })).toEqual(expected);
  });
});
