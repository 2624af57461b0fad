import { generateKeyPairSync } from 'node:crypto';

/** A key pair for an App, in the form GitHub hands out: the App keeps the private half, GitHub the public one. */
export function createAppKey(): { readonly privateKeyPem: string; readonly publicKeyPem: string } {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return { privateKeyPem: privateKey, publicKeyPem: publicKey };
}
