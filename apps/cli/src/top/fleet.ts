import { countWaitsEndpoint } from '@paddock/api/jobs/list-jobs';
import { listFailedOperationsEndpoint } from '@paddock/api/operations/operation';
import { listPoolsEndpoint } from '@paddock/api/pools/pools';
import { listWorkersEndpoint } from '@paddock/api/workers/workers';
import type { Asker } from '../asker.ts';

/** What `paddock top` shows, as it stood at one time. */
export type Fleet = Awaited<ReturnType<typeof readFleet>>;

const NEWEST = { from: '-24h', limit: 10 } as const;

export async function readFleet(asker: Asker) {
  const [pools, waits, workers, operations] = await Promise.all([
    asker.ask(listPoolsEndpoint, {}),
    asker.ask(countWaitsEndpoint, {}),
    asker.ask(listWorkersEndpoint, { ...NEWEST, state: 'failed' }),
    asker.ask(listFailedOperationsEndpoint, NEWEST),
  ]);
  return {
    at: new Date().toISOString(),
    pools: pools.items,
    waits: waits.items,
    failed: { workers: workers.items, operations: operations.items },
  };
}
