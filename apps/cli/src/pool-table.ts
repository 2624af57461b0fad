import type { listPoolsEndpoint } from '@paddock/api/pools/pools';
import { NO_POOL } from '@paddock/domain/pools/place-job';
import type { z } from 'zod';
import { columns } from './columns.ts';

type Pool = z.infer<typeof listPoolsEndpoint.output>['items'][number];

/** How a table writes instants, given in ISO 8601, and milliseconds. */
interface Times {
  readonly since: (at: string) => string | null;
  readonly duration: (ms: number) => string | null;
}

/** A line for each pool, in the order given. */
export function poolTable(pools: readonly Pool[], { since, duration }: Times): string {
  return columns(
    [
      'POOL',
      'WAITING',
      'OLDEST',
      'STARTING',
      'IDLE',
      'BUSY',
      'STOPPING',
      'CAP',
      'P50',
      'P95',
      'HELD BY',
    ],
    pools.map(({ name, inForce, demand, supply, cap, lastHour, heldBack }) => [
      poolName({ name, inForce }),
      demand.waiting,
      known(demand.oldestSince, since),
      supply.starting,
      supply.idle,
      supply.busy,
      supply.stopping,
      known(cap, ({ used, limit }) => `${used}/${limit}`),
      known(lastHour.queuedP50Ms, duration),
      known(lastHour.queuedP95Ms, duration),
      heldBack.map(describeHeldBack).join('; ') || null,
    ]),
    'No pools have been loaded.',
  );
}

const known = <T, Text>(value: T | null, write: (value: T) => Text): Text | null =>
  value === null ? null : write(value);

function poolName({ name, inForce }: Pick<Pool, 'name' | 'inForce'>): string {
  if (name === NO_POOL) return 'no pool fits';
  return inForce ? name : `${name} (not in force)`;
}

/** What holds a pool back, on one line. */
const describeHeldBack = ({
  what,
  entity,
  login,
  message,
  since,
  until,
}: Pool['heldBack'][number]): string =>
  entity === null
    ? `${what} is away since ${since}: ${message}`
    : `${what} for ${login ?? `entity ${entity}`}${until === null ? '' : ` until ${until}`}: ${message}`;
