import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { createAccessOf } from './access-of.ts';
import { createCredentialOf } from '../credential.ts';
import { createProxiedIdentity } from './proxy.ts';
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
    ['127.0.0.1', false],
    ['::1', false],
    ['', false],
  ])('is believed of the peer %s: %s', (peer, isBelieved) => {
    const expected = { person: 'person ada', groups: ['ci', 'sre'] };
    expect(identity(request(ADA, peer))).toEqual(isBelieved ? expected : undefined);
  });

  test('is nobody’s word without configured peers, nor of a header from further away', () => {
    const nobody = createProxiedIdentity(undefined);
    expect(nobody(request(ADA))).toBeUndefined();
    const from = { ...ADA, 'x-forwarded-for': '10.0.7.9', forwarded: 'for=10.0.7.9' };
    expect(identity(request(from, '192.0.2.1'))).toBeUndefined();
  });

  test.each([
    [{}, undefined],
    [{ 'x-forwarded-user': '' }, undefined],
    [{ 'x-forwarded-user': 'a\u0007b' }, undefined],
    [{ 'x-forwarded-user': 'x'.repeat(201) }, undefined],
    [
      { 'x-forwarded-user': 'Åda'.split('').map(asBytes).join('') },
      { person: 'person Åda', groups: [''] },
    ],
    [
      { ...ADA, 'x-forwarded-groups': 'a, b|c' },
      { person: 'person ada', groups: ['a, b', 'c'] },
    ],
  ])('is read from %j', (headers, expected) => {
    expect(identity(request(headers))).toEqual(expected);
  });

  test.each(['10.0.7.0/33', 'proxy.example', '10.0.7', '10.0.7.0/24/24', 'fd00::/129', '/24', ''])(
    'cannot be configured of the peer "%s"',
    (peer) => {
      expect(read({ proxy: { peers: ['10.0.0.1', peer] } }).success).toBe(false);
    },
  );
});

describe('the credential of a request behind a proxy (G5)', () => {
  const accessOf = createAccessOf(GROUPS);
  const credentialOf = createCredentialOf({
    accessOf,
    proxiedIdentity: createProxiedIdentity(proxy),
  });
  const TOKEN = `paddock_${'0'.repeat(16)}_${'A'.repeat(43)}`;
  const db = undefined as never; // a proxy's word needs none
  const OF_PAGE = { 'x-paddock-page': '1' };

  test('is the person’s, with the rights of their groups', async () => {
    expect(await credentialOf(request(ADA))?.check(db)).toEqual({
      person: 'person ada',
      access: 'operate',
      narrowedTo: null,
    });
    const bob = { 'x-forwarded-user': 'bob' };
    expect(await credentialOf(request(bob))?.check(db)).toMatchObject({ access: 'read' });
    expect(createAccessOf({ ...GROUPS, read: [] })(['ci'])).toBeUndefined();
    expect(createAccessOf({ read: [], operate: [] })([''])).toBeUndefined();
  });

  test('of somebody whose groups may do nothing has no bearer', async () => {
    const stranger = createCredentialOf({
      accessOf: () => undefined,
      proxiedIdentity: createProxiedIdentity(proxy),
    });
    expect(await stranger(request(ADA))?.check(db)).toBeUndefined();
  });

  test.each([
    ['POST', {}, false],
    ['POST', OF_PAGE, true],
    ['GET', { 'sec-fetch-site': 'cross-site' }, false],
    ['DELETE', { ...OF_PAGE, 'sec-fetch-site': 'same-site' }, false],
    ['GET', { authorization: 'Basic eDp5' }, true],
    ['GET', { authorization: 'Bearer of-the-proxy' }, true],
  ])('counts for %s with %j: %s', (method, headers, counts) => {
    const found = credentialOf(request({ ...ADA, ...headers }, '10.0.7.9', method));
    expect(found !== undefined).toBe(counts);
  });

  test('is the token if there is one, and never the word of a stranger', () => {
    const authorization = `Bearer ${TOKEN}`;
    expect(credentialOf(request({ ...ADA, authorization }))?.id).toBe('0'.repeat(16));
    expect(credentialOf(request(ADA, '192.0.2.1'))).toBeUndefined();
    const bad = { ...ADA, authorization: 'Bearer bad', cookie: `paddock=${'x'.repeat(77)}` };
    expect(credentialOf(request(bad, '192.0.2.1'))).toBeUndefined();
  });
});

function asBytes(letter: string): string {
  return Buffer.from(letter).toString('latin1');
}
