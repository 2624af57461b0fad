import type { Logger } from '@paddock/runtime/logger';

/** A logger that writes nothing. */
export const SILENT_LOG = {
  error: () => SILENT_LOG,
  warn: () => SILENT_LOG,
  info: () => SILENT_LOG,
  debug: () => SILENT_LOG,
} as unknown as Logger;
