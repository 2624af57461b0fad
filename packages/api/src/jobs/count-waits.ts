import { countWaits } from '@paddock/db/people/count-waits';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

export const countWaitsEndpoint = endpoint({
  name: 'countWaits',
  method: 'GET',
  path: '/api/v1/waits',
  summary: 'Counts the jobs that wait for a worker, by reason, the most jobs first.',
  access: 'read',
  status: 200,
  input: z.object({}),
  output: z.object({
    items: z.array(
      z.object({
        reason: z.string().nullable().describe('null: nothing holds their workers back'),
        jobs: z.int().min(1),
        pools: z.array(z.string()),
        oldestSince: z.iso.datetime().describe('When the oldest of them was stored'),
      }),
    ),
  }),
  answer: async ({ db }) => ({
    items: (await countWaits(db)).map(({ reason, jobs, pools, oldestAt }) => ({
      reason,
      jobs,
      pools: [...pools],
      oldestSince: oldestAt.toISOString(),
    })),
  }),
});
