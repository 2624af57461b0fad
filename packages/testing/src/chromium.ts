import { existsSync } from 'node:fs';

/** Where a Chromium is installed; undefined: nowhere that is usual. */
export const CHROMIUM = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => existsSync(path));
