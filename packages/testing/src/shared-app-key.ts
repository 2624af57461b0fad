/** The key pair of an App that all tests of a run share. Throws outside of a run of Jest. */
export function sharedAppKey(): { readonly privateKeyPem: string; readonly publicKeyPem: string } {
  const key = process.env['PADDOCK_TEST_APP_KEY'];
  if (key === undefined)
    throw new Error('PADDOCK_TEST_APP_KEY is not set: jest.config.mjs sets it.');
  return JSON.parse(key) as ReturnType<typeof sharedAppKey>;
}
