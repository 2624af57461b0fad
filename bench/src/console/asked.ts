import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';
import { UNSERVED_FROM } from './fill-events.ts';
import { REPOSITORIES_APART } from './skewed-year.ts';

/** What the questions are about, from all over the year. */
export interface Asked {
  readonly entities: number;
  readonly repositories: readonly string[];
  readonly jobs: readonly number[];
  /** Of these `paddock why` has the most to say. */
  readonly waitingJobs: readonly number[];
  readonly unservedJobs: readonly number[];
  /** Runs with jobs that wait or run, with their owners. */
  readonly runs: readonly { readonly id: number; readonly owner: string }[];
  readonly workers: readonly string[];
  readonly liveWorkers: readonly string[];
  /** As `worker:NAME`: the one with the most operations first. */
  readonly subjects: readonly string[];
  readonly operations: readonly string[];
  readonly events: readonly string[];
}

const MOST = 50;

/** Needs a filled database, and its statistics. */
export async function findAsked(db: Kysely<Database>, entities: number): Promise<Asked> {
  const { rows } = await sql<Omit<Asked, 'entities'>>`
    select array(select full_name from repositories where repo_id in (${REPOSITORIES_APART}, ${REPOSITORIES_APART} + 700, 20 * ${REPOSITORIES_APART}::bigint)
        order by repo_id) as repositories,
      array(select job_id::float8 from jobs tablesample system (1) limit ${MOST}) as jobs,
      array(select job_id::float8 from jobs where wants_worker order by hashint8(job_id) limit ${MOST}) as "waitingJobs",
      array(select job_id::float8 from installation_events where job_id >= ${UNSERVED_FROM}::bigint and event = 'workflow_job.queued'
        order by job_id limit ${MOST}) as "unservedJobs",
      (select jsonb_agg(r) from (select run_id as id, entity_name as owner from jobs where wants_worker limit ${MOST}) r) as runs,
      array(select pod_name from workers tablesample system (1) limit ${MOST}) as workers,
      array(select pod_name from workers where status in ('pending', 'running') order by hashtext(pod_name) limit ${MOST}) as "liveWorkers",
      array(select subject_type || ':' || subject_id from operations group by subject_type, subject_id order by count(*) desc limit ${MOST}) as subjects,
      array(select id::text from operations tablesample system (1) limit ${MOST}) as operations,
      array(select id::text from installation_events tablesample system (1) limit ${MOST}) as events`.execute(
    db,
  );
  const [found] = rows;
  if (found === undefined) throw new Error('PostgreSQL answered a select of one row with none.');
  return { entities, ...found };
}
