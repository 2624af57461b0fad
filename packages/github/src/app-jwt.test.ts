import { generateKeyPairSync, verify } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { ConfigError } from '@paddock/runtime/config-error';
import { parsePrivateKey, signAppJwt } from './app-jwt.ts';

const NOW = Date.parse('2026-01-01T00:00:00.900Z');
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

test.each(['pkcs1', 'pkcs8'] as const)(
  'a token signed with a %s key is RS256, dated back, and lives less than ten minutes',
  (type) => {
    const key = parsePrivateKey(12, privateKey.export({ type, format: 'pem' }));
    const { jwt, expiresAt } = signAppJwt(12, key, NOW);
    const [header = '', claims = '', signature = ''] = jwt.split('.');
    expect(read(header)).toEqual({ alg: 'RS256', typ: 'JWT' });
    expect(read(claims)).toEqual({ iss: '12', iat: 1767225570, exp: 1767226110 });
    expect(expiresAt).toBe('2026-01-01T00:08:30.000Z');
    expect(
      verify(
        'RSA-SHA256',
        Buffer.from(`${header}.${claims}`),
        publicKey,
        Buffer.from(signature, 'base64url'),
      ),
    ).toBe(true);
  },
);

test('reads a key whose line breaks are written as \\n, and refuses another text without showing it (H1)', () => {
  const pem = privateKey.export({ type: 'pkcs1', format: 'pem' });
  expect(parsePrivateKey(12, pem.replaceAll('\n', String.raw`\n`)).equals(privateKey)).toBe(true);
  const wrong = () => parsePrivateKey(12, pem.slice(0, -100));
  expect(wrong).toThrow(ConfigError);
  expect(wrong).toThrow(
    /The private key of GitHub App 12 cannot be read: give the PEM file that GitHub handed out, as it is$/,
  );
});

function read(part: string): unknown {
  return JSON.parse(Buffer.from(part, 'base64url').toString());
}
