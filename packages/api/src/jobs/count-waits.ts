import { isOnPage } from '@paddock/db/newest-first';
import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { dates, instant } from '../lists/dates.ts';
import { entityIdOf, ofKnownPool, repoIdOf } from '../lists/named.ts';
import { isAt, jobPlace, type JobPlace } from './job.ts';

const wait = z.object({
  reason: z.string().nullable().describe('null: nothing holds their workers back'),
  jobs: z.int().min(1),
  pools: z.array(z.string()),
  oldestSince: instant.describe('When the oldest of them was stored'),
});

export const countWaitsEndpoint = endpoint({
  name: 'countWaits',
  method: 'GET',
  path: '/api/v1/waits',
  summary:
    'Counts the jobs that wait for a worker, by reason, the most jobs first. Takes the filters of waiting jobs.',
  access: 'read',
  status: 200,
  input: z.object({ ...jobPlace, ...dates }),
  output: z.object({ items: z.array(wait) }),
  async answer(caller, { entity, repository, ...given }) {
    const entityId = await entityIdOf(caller, entity);
    const repoId = await repoIdOf(caller, repository);
    const counted = countWaits(caller.db, { ...given, entityId, repoId });
    return { items: await ofKnownPool(caller, given.pool, counted) };
  },
});

/**
 * By the reasons that the matcher stored last, those of most jobs first. The jobs of a key have one
 * pool and one reason, so this groups by key first: there are far fewer keys than jobs.
 */
export async function countWaits(
  db: Kysely<Database>,
  {
    from,
    to,
    ...place
  }: JobPlace & { readonly from?: Date | undefined; readonly to?: Date | undefined } = {},
): Promise<z.output<typeof wait>[]> {
  const isOf = isOnPage({ id: sql`job_id`, idType: sql`bigint` }, { limit: 0, from, to });
  const { rows } = await sql<z.output<typeof wait>>`
    with waiting as (
      select demand_key, count(*) as jobs, min(k8s_pool collate "C") as pool, min(created_at) as oldest from jobs
      where wants_worker and ${isAt(place)} and ${isOf} group by 1
    )
    select wait_reason as reason, sum(jobs)::bigint as jobs, array_agg(distinct pool order by pool) as pools, min(oldest) as "oldestSince"
    from waiting left join demand_keys using (demand_key) group by 1 order by 2 desc, 1`.execute(
    db,
  );
  return rows;
}
