import { generateKeyPairSync } from 'node:crypto';

/**
 * A key pair of an App, in the form GitHub hands out: the App keeps the private half, GitHub the
 * public one.
 */
export interface AppKey {
  readonly privateKeyPem: string;
  readonly publicKeyPem: string;
}

/** A new pair each time. Generating one takes a tenth of a second of a processor. */
export function createAppKey(): AppKey {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return { privateKeyPem: privateKey, publicKeyPem: publicKey };
}
