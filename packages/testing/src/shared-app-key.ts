/**
 * The key pair of an App, made once for all tests of a run: to make one takes a tenth of a second.
 * Throws outside of a run that the set-up of Jest has begun.
 */
export function sharedAppKey(): { readonly privateKeyPem: string; readonly publicKeyPem: string } {
  const key = process.env['PADDOCK_TEST_APP_KEY'];
  if (key === undefined)
    throw new Error('PADDOCK_TEST_APP_KEY is not set: tools/jest-setup.mjs sets it.');
  return JSON.parse(key) as ReturnType<typeof sharedAppKey>;
}
