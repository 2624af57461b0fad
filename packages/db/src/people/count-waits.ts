import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';
import { isAt, JOBS, type JobPlace } from './list-jobs.ts';
import { isOnPage, type PageOfTime } from './newest-first.ts';

/** The jobs that wait for one reason. */
export interface CountedWaits {
  /** Null: nothing holds their workers back. */
  readonly reason: string | null;
  readonly jobs: number;
  readonly pools: readonly string[];
  /** When the oldest of them was stored. */
  readonly oldestAt: Date;
}

/**
 * By the reasons that the matcher stored last, those of most jobs first. The jobs of a key have one
 * pool and one reason, so this groups by key first: there are far fewer keys than jobs.
 */
export async function countWaits(
  db: Kysely<Database>,
  { from, to, ...place }: JobPlace & Pick<PageOfTime<number>, 'from' | 'to'> = {},
): Promise<CountedWaits[]> {
  const { rows } = await sql<CountedWaits>`
    with waiting as (
      select demand_key, count(*) as jobs, min(k8s_pool collate "C") as pool, min(created_at) as oldest from jobs
      where wants_worker and ${isAt(place)} and ${isOnPage(JOBS, { limit: 0, from, to })} group by 1
    )
    select wait_reason as reason, sum(jobs)::bigint as jobs, array_agg(distinct pool order by pool) as pools, min(oldest) as "oldestAt"
    from waiting left join demand_keys using (demand_key) group by 1 order by 2 desc, 1`.execute(
    db,
  );
  return rows;
}
