import type { Database } from '@paddock/db/schema/tables';
import type { Report, Truth } from '@paddock/simulators/github/truth';
import { type Kysely, sql } from 'kysely';

/** The outcome of one demo. The fields are the `--json` line. */
export interface Summary {
  jobs: number;
  completed: number;
  lost: number;
  workers: number;
  excess_workers: number;
  redelivered: number;
  webhook_to_pod_ms: { p50: number; p99: number };
  github_calls_per_job: number;
  seconds: number;
  /** How many states the tour reached, and did not reach. */
  tour?: { reached: number; missed: number };
}

/** Compares GitHub's truth with the database's: a job has completed when both say so. */
export async function summarise(
  jobs: number,
  truth: Truth,
  report: Report,
  db: Kysely<Database>,
  seconds: number,
): Promise<Summary> {
  const seen = await observe(db);
  const ours = truth.jobs.filter(
    (job) => !job.hosted && job.status === 'completed' && job.conclusion === 'success',
  );
  const completed = ours.filter((job) => seen.completedIds.has(job.id)).length;
  const calls = Object.values(report.calls).reduce((sum, count) => sum + count, 0);
  return {
    jobs,
    completed,
    lost: jobs - completed,
    workers: seen.workers,
    excess_workers: report.excessWorkers,
    redelivered: report.redelivered,
    webhook_to_pod_ms: await webhookToPod(db),
    github_calls_per_job: Math.round((calls / jobs) * 100) / 100,
    seconds: Math.round(seconds * 10) / 10,
  };
}

/** The same for people. */
export const describeSummary = (summary: Summary): string =>
  Object.entries(summary)
    .map(([name, value]) => {
      const text =
        typeof value === 'object' && 'p50' in value
          ? `p50 ${value.p50}, p99 ${value.p99}`
          : String(value);
      return `  ${name.replaceAll('_', ' ').padEnd(22)}${text}`;
    })
    .join('\n');

/** Success means: no job lost, no worker made in excess, no stop of the tour missed. */
export const isSuccess = ({ lost, excess_workers, tour }: Summary): boolean =>
  lost === 0 && excess_workers === 0 && (tour?.missed ?? 0) === 0;

/** The demo's jobs and workers as the database has them at one moment. */
export async function observe(db: Kysely<Database>) {
  const jobs = await db.selectFrom('jobs').select(['job_id', 'status', 'wants_worker']).execute();
  const workers = await db.selectFrom('workers').select('status').execute();
  const completed = jobs.filter(({ status }) => status === 'completed');
  return {
    stored: jobs.length,
    waiting: jobs.filter((job) => job.wants_worker).length,
    running: jobs.filter(({ status }) => status === 'running').length,
    completed: completed.length,
    workers: workers.length,
    workersAlive: workers.filter(({ status }) => status === 'pending' || status === 'running')
      .length,
    completedIds: new Set(completed.map((job) => job.job_id)),
  };
}

/**
 * From the commit of a job's first delivery to the pod of the worker made for it, in whole
 * milliseconds.
 */
async function webhookToPod(db: Kysely<Database>): Promise<{ p50: number; p99: number }> {
  const { rows } = await sql<{ p50: number | null; p99: number | null }>`
    select percentile_cont(0.5) within group (order by ms) as p50, percentile_cont(0.99) within group (order by ms) as p99
    from (
      select extract(epoch from worker.pod_created_at - job.created_at)::double precision * 1000 as ms
      from workers worker join jobs job on job.job_id = worker.made_for_job_id
      where worker.pod_created_at is not null
    ) latencies`.execute(db);
  return { p50: Math.round(rows[0]?.p50 ?? 0), p99: Math.round(rows[0]?.p99 ?? 0) };
}
