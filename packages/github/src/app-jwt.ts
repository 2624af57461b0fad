import { createPrivateKey, sign, type KeyObject } from 'node:crypto';
import { ConfigError } from '@paddock/runtime/config-error';

/**
 * GitHub refuses App tokens that live longer than ten minutes. A minute less leaves room for clocks
 * that differ.
 */
const LIFE_SECONDS = 540;
/** Dated back: GitHub refuses a token from the future. */
const BACKDATED_SECONDS = 30;

/**
 * Reads an App's private key (PEM, PKCS#1 as GitHub hands it out, or PKCS#8). Line breaks may be
 * written as \n, as they often are in variables. Throws a ConfigError that does not quote the key:
 * the platform's error for an unreadable key would help no reader.
 */
export function parsePrivateKey(appId: number, pem: string): KeyObject {
  try {
    return createPrivateKey(pem.replaceAll(String.raw`\n`, '\n'));
  } catch {
    throw new ConfigError([
      `The private key of GitHub App ${appId} cannot be read: give the PEM file that GitHub handed out, as it is`,
    ]);
  }
}

/** An App's JSON web token (RS256). `now`: milliseconds since the epoch, by GitHub's clock. */
export function signAppJwt(
  appId: number,
  key: KeyObject,
  now: number,
): { readonly jwt: string; readonly expiresAt: string } {
  const iat = Math.floor(now / 1000) - BACKDATED_SECONDS;
  const exp = iat + LIFE_SECONDS;
  const content = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode({ iat, exp, iss: String(appId) })}`;
  const signature = sign('RSA-SHA256', Buffer.from(content), key).toString('base64url');
  return { jwt: `${content}.${signature}`, expiresAt: new Date(exp * 1000).toISOString() };
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
