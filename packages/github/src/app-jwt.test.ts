import { generateKeyPairSync, verify } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { parsePrivateKey, signAppJwt } from './app-jwt.ts';

const NOW = Date.parse('2026-01-01T00:00:00.900Z');
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

test.each(['pkcs1', 'pkcs8'] as const)('a token signed with a %s key is RS256, dated back, and lives less than ten minutes', (type) => {
  const key = parsePrivateKey(12, privateKey.export({ type, format: 'pem' }));
  const { jwt, expiresAt } = signAppJwt(12, key, NOW);
  const [header = '', claims = '', signature = ''] = jwt.split('.');
  expect(read(header)).toEqual({ alg: 'RS256', typ: 'JWT' });
  expect(read(claims)).toEqual({ iss: '12', iat: 1767225570, exp: 1767226110 });
  expect(expiresAt).toBe('2026-01-01T00:08:30.000Z');
  expect(verify('RSA-SHA256', Buffer.from(`${header}.${claims}`), publicKey, Buffer.from(signature, 'base64url'))).toBe(true);
});

function read(part: string): unknown {
  return JSON.parse(Buffer.from(part, 'base64url').toString());
}
