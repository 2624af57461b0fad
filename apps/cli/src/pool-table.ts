import type { listPoolsEndpoint } from '@paddock/api/pools/pools';
import { NO_POOL } from '@paddock/domain/pools/place-job';
import { duration } from '@paddock/domain/text/duration';
import type { z } from 'zod';
import { table } from './ask-command.ts';

type Pool = z.input<typeof listPoolsEndpoint.output>['items'][number];

/** How long ago an instant in ISO 8601 was. */
export const ageOf = (at: string): string => duration(Date.now() - Date.parse(at));

const known = <T>(value: T | null, write: (value: T) => string): string | null =>
  value === null ? null : write(value);

/** A line for each pool, in the order given. */
export const poolTable = table<Pool>(
  [
    ['POOL', nameOf],
    ['WAITING', ({ demand }) => demand.waiting],
    ['OLDEST', ({ demand }) => known(demand.oldestSince, ageOf)],
    ['STARTING', ({ supply }) => supply.starting],
    ['IDLE', ({ supply }) => supply.idle],
    ['BUSY', ({ supply }) => supply.busy],
    ['STOPPING', ({ supply }) => supply.stopping],
    ['CAP', ({ cap }) => known(cap, ({ used, limit }) => `${used}/${limit}`)],
    ['P50', ({ lastHour }) => known(lastHour.queuedP50Ms, duration)],
    ['P95', ({ lastHour }) => known(lastHour.queuedP95Ms, duration)],
  ],
  'No pools have been loaded.',
);

function nameOf({ name, inForce }: Pool): string {
  if (name === NO_POOL) return 'no pool fits';
  return inForce ? name : `${name} (not in force)`;
}
