import type { EarlierReason } from '@paddock/domain/why/wait-facts';
import { sql, type Transaction } from 'kysely';
import type { Database } from '../schema/tables.ts';

/** A reason may come and go with every pass; the same one is joined to one before it is shown. */
const MOST = 200;

/**
 * The reasons of a job's key that have ended while the job waited, the latest first. A job that
 * runs or has ended waited until it started, or ended: some time in the second that GitHub names.
 */
export async function findEarlierReasons(
  trx: Transaction<Database>,
  jobId: number,
): Promise<EarlierReason[]> {
  const { rows } = await sql<EarlierReason>`
    select c.reason, c.since, c.until from jobs j join wait_reason_changes c on c.demand_key = j.demand_key
    where j.job_id = ${jobId} and c.until > j.created_at
      and (j.wants_worker or c.since < coalesce(j.started_at, j.completed_at, now()) + interval '1 second')
    order by c.until desc limit ${MOST}`.execute(trx);
  return rows;
}
