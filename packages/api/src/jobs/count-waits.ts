import { countWaits } from '@paddock/db/people/list-jobs';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { dates } from '../lists/dates.ts';
import { entityIdOf, ofKnownPool, repoIdOf } from '../lists/named.ts';
import { jobPlace } from './job-place.ts';

export const countWaitsEndpoint = endpoint({
  name: 'countWaits',
  method: 'GET',
  path: '/api/v1/waits',
  summary:
    'Counts the jobs that wait for a worker, by reason, the most jobs first. Takes the filters of waiting jobs.',
  access: 'read',
  status: 200,
  input: z.object({ ...jobPlace, ...dates }),
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
  async answer(caller, { entity, repository, ...given }) {
    const entityId = await entityIdOf(caller, entity);
    const repoId = await repoIdOf(caller, repository);
    const counted = await ofKnownPool(
      caller,
      given.pool,
      countWaits(caller.db, { ...given, entityId, repoId }),
    );
    return {
      items: counted.map(({ reason, jobs, pools, oldestAt }) => ({
        reason,
        jobs,
        pools: [...pools],
        oldestSince: oldestAt.toISOString(),
      })),
    };
  },
});
