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
