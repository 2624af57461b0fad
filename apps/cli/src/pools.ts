import { listPoolsEndpoint } from '@paddock/api/pools/list-pools';
import { askCommand } from './ask-command.ts';
import type { Command } from './command.ts';
import { poolTable } from './pool-table.ts';

export const pools: Command = askCommand({
  name: 'pools',
  takes: '',
  summary: `Lists all pools: demand, supply, caps, queue times of the last hour's starts, and what
holds new workers back.`,
  endpoint: listPoolsEndpoint,
  input: () => ({}),
  print: ({ items }) => poolTable(items, { since: (at) => at, duration: seconds }),
});

const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;
