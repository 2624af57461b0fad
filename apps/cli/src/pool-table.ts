import type { Item } from '@paddock/api/endpoints';
import { NO_POOL } from '@paddock/domain/pools/place-job';
import { duration } from '@paddock/domain/text/duration';
import { table } from './ask-command.ts';

export const ageOf = (at: string): string => duration(Date.now() - Date.parse(at));

const known = <T>(value: T | null, write: (value: T) => string): string | null =>
  value === null ? null : write(value);

export const poolTable = table<Item<'listPools'>>(
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

function nameOf({ name, inForce }: Item<'listPools'>): string {
  if (name === NO_POOL) return 'no pool fits';
  return inForce ? name : `${name} (not in force)`;
}
