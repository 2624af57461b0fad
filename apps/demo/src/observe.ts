import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';

/** The demo's jobs and workers as the database has them at one moment. */
export interface Observation {
  stored: number;
  waiting: number;
  running: number;
  completed: number;
  workers: number;
  workersAlive: number;
  completedIds: ReadonlySet<number>;
}

export async function observe(db: Kysely<Database>): Promise<Observation> {
  const jobs = await db.selectFrom('jobs').select(['job_id', 'status', 'wants_worker']).execute();
  const workers = await db.selectFrom('workers').select('status').execute();
  const completedIds = new Set(
    jobs.filter(({ status }) => status === 'completed').map(({ job_id }) => job_id),
  );
  return {
    stored: jobs.length,
    waiting: jobs.filter((job) => job.wants_worker).length,
    running: jobs.filter(({ status }) => status === 'running').length,
    completed: completedIds.size,
    workers: workers.length,
    workersAlive: workers.filter(({ status }) => status === 'pending' || status === 'running')
      .length,
    completedIds,
  };
}

/**
 * From the commit of a job's first delivery to the pod of the worker made for it, in whole
 * milliseconds.
 */
export async function webhookToPod(db: Kysely<Database>): Promise<{ p50: number; p99: number }> {
  const { rows } = await sql<{ p50: number | null; p99: number | null }>`
    select percentile_cont(0.5) within group (order by ms) as p50, percentile_cont(0.99) within group (order by ms) as p99
    from (
      select extract(epoch from worker.pod_created_at - job.created_at)::double precision * 1000 as ms
      from workers worker join jobs job on job.job_id = worker.made_for_job_id
      where worker.pod_created_at is not null
    ) latencies`.execute(db);
  return { p50: Math.round(rows[0]?.p50 ?? 0), p99: Math.round(rows[0]?.p99 ?? 0) };
}
