import { generateKeyPairSync } from 'node:crypto';

/**
 * A key pair of an App, in the form GitHub hands out: the App keeps the private half, GitHub the
 * public one.
 */
export interface AppKey {
  readonly privateKeyPem: string;
  readonly publicKeyPem: string;
}

/** A new pair each time. To find one takes a tenth of a second of a processor. */
export function createAppKey(): AppKey {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return { privateKeyPem: privateKey, publicKeyPem: publicKey };
}

let shared: AppKey | undefined;

/**
 * The same pair each time, for tests that care for no more than one App: that of the test run if it
 * has made one, else this process' own.
 */
export function sharedAppKey(): AppKey {
  const ofRun = process.env['PADDOCK_TEST_APP_KEY'];
  shared ??= ofRun === undefined ? createAppKey() : (JSON.parse(ofRun) as AppKey);
  return shared;
}
