import { listPoolsEndpoint } from '@paddock/api/pools/list-pools';
import { NO_POOL } from '@paddock/domain/pools/place-job';
import { askCommand } from './ask-command.ts';
import { columns } from './columns.ts';
import type { Command } from './command.ts';

export const pools: Command = askCommand({
  name: 'pools',
  takes: '',
  summary: `Lists all pools: demand, supply, caps, queue times of the last hour's starts, and the breakers
that hold new workers back.`,
  endpoint: listPoolsEndpoint,
  input: () => ({}),
  print: ({ items }) =>
    columns(
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
      items.map(({ name, inForce, demand, supply, cap, lastHour, breakers }) => [
        poolName({ name, inForce }),
        demand.waiting,
        demand.oldestSince,
        supply.starting,
        supply.idle,
        supply.busy,
        supply.stopping,
        cap === null ? null : `${cap.used}/${cap.limit}`,
        seconds(lastHour.queuedP50Ms),
        seconds(lastHour.queuedP95Ms),
        breakers.map(describeBreaker).join('; ') || null,
      ]),
      'No pools have been loaded.',
    ),
});

/** What a line about a pool begins with. */
export function poolName({ name, inForce }: { name: string; inForce: boolean }): string {
  if (name === NO_POOL) return 'no pool fits';
  return inForce ? name : `${name} (not in force)`;
}

const seconds = (ms: number | null): string | null =>
  ms === null ? null : `${Math.round(ms / 1000)} s`;

interface Breaker {
  readonly entity: number | null;
  readonly login: string | null;
  readonly failure: string;
  readonly message: string;
  readonly until: string | null;
}

/** What holds a pool back, on one line. */
export const describeBreaker = ({ entity, login, failure, message, until }: Breaker): string =>
  `${failure}${entity === null ? '' : ` of entity ${login ?? entity}`}${until === null ? '' : ` until ${until}`}: ${message}`;
