import { describe, expect, test } from '@jest/globals';
import { printSettings } from '@paddock/runtime/settings';
import { useFolder } from '@paddock/testing/use-folder';
import { writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { readConsoleConfig, settings } from '../settings.ts';
import { credentialOf } from '../admit.ts';
import { cookieWith, cookieWithout, sessionOf } from './cookies.ts';
import { createAccessOf, createProxiedIdentity } from './identity.ts';
import { type SignInFile, signInFile } from './sign-in-file.ts';

const read = (more: object) =>
  signInFile.safeParse({ groups: { read: ['*'], operate: ['platform', 'sre'] }, ...more });
const { proxy, groups: GROUPS } = read({
  proxy: { peers: ['10.0.7.0/24', 'fd00::/16', '2001:db8::5'], nameHeader: 'X-Forwarded-User' },
}).data as SignInFile;
const request = (headers: IncomingHttpHeaders, remoteAddress = '10.0.7.9', method = 'GET') =>
  ({ method, headers, socket: { remoteAddress } }) as unknown as IncomingMessage;
const ADA = { 'x-forwarded-user': 'ada', 'x-forwarded-groups': 'ci, sre' };

describe('whom a proxy names (G5)', () => {
  const identity = createProxiedIdentity(proxy);

  test.each([
    ['10.0.7.9', true],
    ['::ffff:10.0.7.9', true],
    ['fd00::1', true],
    ['2001:db8::5', true],
    ['2001:db8::6', false],
    ['10.0.8.9', false],
    ['', false],
  ])('is believed of the peer %s: %s', (peer, isBelieved) => {
    const expected = { person: 'person ada', groups: ['ci', 'sre'] };
    expect(identity(request(ADA, peer))).toEqual(isBelieved ? expected : undefined);
  });

  test('is nobody’s word without configured peers, nor of a header from further away', () => {
    const withoutProxy = createProxiedIdentity(undefined);
    expect(withoutProxy(request(ADA))).toBeUndefined();
    const from = { ...ADA, 'x-forwarded-for': '10.0.7.9', forwarded: 'for=10.0.7.9' };
    expect(identity(request(from, '192.0.2.1'))).toBeUndefined();
  });

  test.each([
    [{}, undefined],
    [{ 'x-forwarded-user': 'a\u0007b' }, undefined],
    [{ 'x-forwarded-user': 'x'.repeat(201) }, undefined],
    // Node reads the bytes of UTF-8 as letters of their own.
    [{ 'x-forwarded-user': '\u00c3\u0085da' }, { person: 'person Åda', groups: [''] }],
    [
      { ...ADA, 'x-forwarded-groups': 'a, b|c' },
      { person: 'person ada', groups: ['a, b', 'c'] },
    ],
  ])('is read from %j', (headers, expected) => {
    expect(identity(request(headers))).toEqual(expected);
  });
});

describe('the credential of a request behind a proxy (G5)', () => {
  const options = {
    accessOf: createAccessOf(GROUPS),
    proxiedIdentity: createProxiedIdentity(proxy),
  };
  const db = undefined as never; // a proxy's word needs none
  const OF_PAGE = { 'x-paddock-page': '1' };

  test('is the person’s, with the rights of their groups', async () => {
    expect(await credentialOf(request(ADA), options)?.check(db)).toEqual({
      person: 'person ada',
      access: 'operate',
      narrowedTo: null,
    });
    const bob = { 'x-forwarded-user': 'bob' };
    expect(await credentialOf(request(bob), options)?.check(db)).toMatchObject({ access: 'read' });
    expect(createAccessOf({ ...GROUPS, read: [] })(['ci'])).toBeUndefined();
    expect(createAccessOf({ read: [], operate: [] })([''])).toBeUndefined();
  });

  test('of somebody whose groups may do nothing has no bearer', async () => {
    const withoutAccess = { ...options, accessOf: () => undefined };
    expect(await credentialOf(request(ADA), withoutAccess)?.check(db)).toBeUndefined();
  });

  test.each([
    ['POST', {}, false],
    ['POST', OF_PAGE, true],
    ['GET', { 'sec-fetch-site': 'cross-site' }, false],
    ['DELETE', { ...OF_PAGE, 'sec-fetch-site': 'same-site' }, false],
    ['GET', { authorization: 'Basic eDp5' }, true],
    ['GET', { authorization: 'Bearer of-the-proxy' }, true],
  ])('counts for %s with %j: %s', (method, headers, counts) => {
    const found = credentialOf(request({ ...ADA, ...headers }, '10.0.7.9', method), options);
    expect(found !== undefined).toBe(counts);
  });
});

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
    ['GET', { 'sec-fetch-site': 'same-site' }, undefined],
    ['POST', {}, undefined],
    ['POST', { 'sec-fetch-site': 'same-origin' }, undefined],
    ['DELETE', { 'x-paddock-page': '1', 'sec-fetch-site': 'same-origin' }, PARTS],
    ['DELETE', { 'x-paddock-page': '1', 'sec-fetch-site': 'same-site' }, undefined],
    ['POST', { 'x-paddock-page': '1', 'sec-fetch-site': 'none' }, undefined],
  ])('counts for %s with %j only as the page sends it', (method, headers, expected) => {
    expect(sessionOf(method, { cookie, ...headers })).toEqual(expected);
  });
});

const GOOD = { DATABASE_URL: 'postgresql://user:hidden@localhost/paddock' };

test('a database is all that the console needs; it reads no file with credentials (H1)', () => {
  const config = readConsoleConfig({ ...GOOD, PADDOCK_CONFIG: '/nowhere.yaml' });
  expect(config).toMatchObject({ httpPort: 8084, healthPort: 8085, schema: 'paddock' });
});

test('every problem is named at once, and no secret is printed (H1)', () => {
  expect(() =>
    readConsoleConfig({ PADDOCK_PUBLIC_PORT: 'x', PADDOCK_CONSOLE_POOL_SIZE: '1' }),
  ).toThrow(/DATABASE_URL is not set[^]*PADDOCK_PUBLIC_PORT[^]*PADDOCK_CONSOLE_POOL_SIZE/);
  expect(printSettings(settings, readConsoleConfig(GOOD))).not.toContain('hidden');
});

describe('the file about signing in', () => {
  const folder = useFolder();

  const GROUPS_OF = "groups: { read: ['*'] }";
  const OIDC = `oidc: { url: 'https://ci.example', issuer: 'https://id.example', clientId: x, `;

  test.each([
    ['groups: {}\nproxy: { peers: [10.0.0.1] }', 'must name a group'],
    [GROUPS_OF, 'must have oidc or proxy'],
    [`${GROUPS_OF}\nproxy: { peers: [] }`, 'proxy.peers: '],
    [
      `${GROUPS_OF}\noidc: { url: 'https://ci.example/' }`,
      'oidc.url: must be an http or https URL without a slash',
    ],
    [
      `${GROUPS_OF}\n${OIDC}clientSecret: { env: NONE } }`,
      'The client secret of the identity provider is read from the variable NONE, which is not set',
    ],
  ])('is refused at the start if it could not work: %s (H1)', async (text, why) => {
    const path = join(folder, 'sign-in.yaml');
    await writeFile(path, text);
    expect(() => readConsoleConfig({ ...GOOD, PADDOCK_SIGN_IN: path })).toThrow(why);
  });
});
