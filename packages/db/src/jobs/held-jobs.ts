import { LIMITS_BY_PEOPLE } from '@paddock/domain/matching/wait-reasons';
import { type NotNull, sql } from 'kysely';
import type { Db } from '../schema/tables.ts';

/** Those of these started jobs that waited, for some of their time, because of a limit of people. */
export async function findHeldJobs(db: Db, jobIds: readonly number[]): Promise<Set<number>> {
  if (jobIds.length === 0) return new Set();
  const rows = await db
    .with('reasons', (with_) =>
      with_
        .selectFrom('wait_reason_changes')
        .select(['demand_key', 'reason', 'since', 'until'])
        .unionAll(
          with_
            .selectFrom('demand_keys')
            .select([
              'demand_key',
              'wait_reason as reason',
              'wait_since as since',
              sql<Date>`now()`.as('until'),
            ])
            .$narrowType<{ reason: NotNull; since: NotNull }>(),
        ),
    )
    .selectFrom('jobs as j')
    .innerJoin('reasons as r', 'r.demand_key', 'j.demand_key')
    .select('job_id as jobId')
    .where('job_id', 'in', jobIds)
    .where('reason', 'in', LIMITS_BY_PEOPLE)
    .whereRef('until', '>', 'j.created_at')
    .whereRef('since', '<', sql`coalesce(j.started_at, now())`)
    .execute();
  return new Set(rows.map(({ jobId }) => jobId));
}
