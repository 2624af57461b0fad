import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';
import { WAITED_KEY } from './list-jobs.ts';

/** The jobs that wait for one reason. */
export interface CountedWaits {
  /** Null: nothing holds their workers back. */
  readonly reason: string | null;
  readonly jobs: number;
  readonly pools: readonly string[];
  /** When the oldest of them was stored. */
  readonly oldestAt: Date;
}

/** By the reasons that the matcher stored last, those of most jobs first. */
export async function countWaits(db: Kysely<Database>): Promise<CountedWaits[]> {
  const { rows } = await sql<CountedWaits>`
    select d.wait_reason as reason, count(*) as jobs, array_agg(distinct j.k8s_pool order by j.k8s_pool) as pools,
      min(j.created_at) as "oldestAt"
    from jobs j ${WAITED_KEY} where j.wants_worker group by 1 order by 2 desc, 1`.execute(db);
  return rows;
}
