import { type Kysely, type Selectable, sql } from 'kysely';
import type { Database, JobsTable } from '../schema/tables.ts';
import { type JobSummary, SUMMARY, WAITED_KEY } from './list-jobs.ts';

/** A job as lists have it, with its whole row. */
export type FoundJob = JobSummary & Selectable<JobsTable>;

/** Undefined: there is no row of this job, or it was deleted. */
export async function findJob(db: Kysely<Database>, jobId: number): Promise<FoundJob | undefined> {
  const { rows } = await sql<FoundJob>`
    select j.*, ${SUMMARY} from jobs j ${WAITED_KEY} where j.job_id = ${jobId}`.execute(db);
  return rows[0];
}

/** A stored statement about a job: GitHub's delivery, or its answer to us. */
export interface JobEvent {
  /** Ids of rows may pass 2^53. */
  readonly id: string;
  readonly source: 'webhook' | 'scheduler' | 'reconciler';
  readonly event: string;
  readonly outcome: string;
  readonly guid: string | null;
  readonly receivedAt: Date;
}

/** A job has three, and more only if they are redelivered: a bound, not a page. */
const MOST_EVENTS = 50;

/** The newest first. */
export async function findJobEvents(db: Kysely<Database>, jobId: number): Promise<JobEvent[]> {
  const { rows } = await sql<JobEvent>`
    select id::text as id, source, event, outcome, delivery_guid as guid, received_at as "receivedAt"
    from installation_events where job_id = ${jobId} order by installation_events.id desc limit ${MOST_EVENTS}`.execute(
    db,
  );
  return rows;
}
