import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';

/** A stored delivery about a job. */
export interface JobDelivery {
  readonly outcome: string;
  readonly receivedAt: Date;
  readonly payload: unknown;
}

/** A job has three, and more only if they are redelivered: a bound, not a page. */
const MOST = 50;

/** The deliveries about a job, the newest first. A repeated body is empty and says nothing. */
export async function findJobDeliveries(
  db: Kysely<Database>,
  jobId: number,
): Promise<JobDelivery[]> {
  const { rows } = await sql<JobDelivery>`
    select outcome, received_at as "receivedAt", payload from installation_events
    where job_id = ${jobId} and source = 'webhook' and outcome <> 'repeated_body'
    order by id desc limit ${MOST}`.execute(db);
  return rows;
}
