import { integer, type Setting } from '@paddock/runtime/settings';

const DAY_SECONDS = 86_400;
export const DAY_MS = DAY_SECONDS * 1000;

/** How often a sweep runs. */
export const cadence = (env: string, doc: string, seconds: number): Setting<number> =>
  integer({ env, doc: `${doc}; a part of a minute, of an hour or of a day`, default: seconds, min: 1, max: DAY_SECONDS });

export const duration = (env: string, doc: string, milliseconds: number, max = 90 * DAY_MS): Setting<number> =>
  integer({ env, doc, default: milliseconds, min: 0, max });
