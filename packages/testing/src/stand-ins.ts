import type { Logger } from '@paddock/runtime/logger';

/** A logger that writes nothing. */
export const SILENT_LOG = {
  error: () => SILENT_LOG,
  warn: () => SILENT_LOG,
  info: () => SILENT_LOG,
  debug: () => SILENT_LOG,
} as unknown as Logger;

/** For clients of GitHub in tests without a database: no call has to wait. */
export const NO_WAITS = { left: () => Promise.resolve(undefined), note: () => Promise.resolve() };

/** The key pair of an App that all tests of a run share. Throws outside of a run of Jest. */
export function sharedAppKey(): { readonly privateKeyPem: string; readonly publicKeyPem: string } {
  const key = process.env['PADDOCK_TEST_APP_KEY'];
  if (key === undefined)
    throw new Error('PADDOCK_TEST_APP_KEY is not set: jest.config.mjs sets it.');
  return JSON.parse(key) as ReturnType<typeof sharedAppKey>;
}
