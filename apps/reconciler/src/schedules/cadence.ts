import { integer, type Setting } from '@paddock/runtime/settings';

const DAY_SECONDS = 86_400;

/** How often a sweep runs, in seconds. */
export const cadence = (env: string, seconds: number, doc: string): Setting<number> =>
  integer({
    env,
    default: seconds,
    min: 1,
    max: DAY_SECONDS,
    doc: `${doc}; must divide a minute, an hour or a day evenly`,
  });
