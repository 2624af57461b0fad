import { WORKER_TASK } from '@paddock/domain/tasks/worker-tasks';
import type { Truth } from '@paddock/simulators/github/control';
import { sql } from 'kysely';
import type { Environment } from './environment.ts';

/** What an environment was told, and when. Instants in milliseconds since the epoch. */
export interface Told {
  /**
   * By name: between which instants the worker was decided upon, and when we stopped counting on it
   * for a job that waits.
   */
  readonly workers: ReadonlyMap<
    string,
    { readonly begunAt: number; readonly decidedAt: number; readonly spareUntil: number }
  >;
  /**
   * By id, of the jobs that are its own: when it first heard of the job, and when that the job
   * waits no more.
   */
  readonly jobs: ReadonlyMap<number, { readonly heardAt: number; readonly newsAt: number }>;
}

/**
 * A row bears the instant at which its transaction began, and others see it once that is over:
 * where PostgreSQL keeps that instant, it counts.
 */
const SEEN_AT = sql`case when current_setting('track_commit_timestamp') = 'on' then pg_xact_commit_timestamp(xmin) else received_at end`;

/**
 * A worker's row tells when its transaction began, which may have waited for its turn before it
 * looked for jobs.
 */
export const noteDecisions = (db: Environment['db']): Promise<unknown> =>
  sql`alter table workers add column decided_at timestamptz not null default clock_timestamp()`.execute(
    db,
  );

/** A stop may have been taken back since, so its task counts. */
const WORKERS = sql<{
  name: string;
  begunAt: number;
  decidedAt: number;
  spareUntil: number | null;
}>`
  with stops as (
    select subject_id, min(queued_at) as at
    from (select kind, subject_id, queued_at from tasks union all select kind, subject_id, queued_at from operations) known
    where kind = ${WORKER_TASK.stopWorker} group by subject_id
  )
  select pod_name as name, extract(epoch from created_at)::float8 * 1000 as "begunAt",
    extract(epoch from decided_at)::float8 * 1000 as "decidedAt",
    extract(epoch from least(assigned_at, stopping_at, completed_at, stops.at))::float8 * 1000 as "spareUntil"
  from workers left join stops on subject_id = pod_name`;

export async function readTold(db: Environment['db']): Promise<Told> {
  const { rows: workers } = await WORKERS.execute(db);
  const { rows: jobs } = await sql<{ id: number; heardAt: number; newsAt: number | null }>`
    select job_id::float8 as id, extract(epoch from min(received_at))::float8 * 1000 as "heardAt",
      extract(epoch from min(${SEEN_AT}) filter (where event like '%.in_progress' or event like '%.completed'))::float8 * 1000 as "newsAt"
    from installation_events where job_id in (select job_id from jobs) group by job_id`.execute(db);
  return {
    workers: new Map(
      workers.map(({ name, spareUntil, ...decided }) => [
        name,
        { ...decided, spareUntil: spareUntil ?? Infinity },
      ]),
    ),
    jobs: new Map(
      jobs.map(({ id, heardAt, newsAt }) => [id, { heardAt, newsAt: newsAt ?? Infinity }]),
    ),
  };
}

/** PostgreSQL notes the instant of a commit before others see it. */
const SEEN_WITHIN_MS = 1_000;

/**
 * The registrations that nothing we had been told called for, by name, even if they ran a job by
 * luck: when they were decided upon, no more jobs of their scope waited, as far as we had heard,
 * than we had spare workers. What changed just then counts in their favour.
 */
export function findUnfounded({ registrations, jobs }: Truth, told: Told): string[] {
  const made = registrations
    .flatMap(({ name, scope }) => {
      const worker = told.workers.get(name);
      return worker === undefined ? [] : [{ name, scope, ...worker }];
    })
    .toSorted((a, b) => a.decidedAt - b.decidedAt);
  const unfounded = made.filter(({ scope, begunAt, decidedAt }, index) => {
    const spare = made
      .slice(0, index)
      .filter((other) => other.scope === scope && other.spareUntil > decidedAt);
    const believed = jobs.filter(({ id, repo }) => {
      const heard = told.jobs.get(id);
      if (heard === undefined || (repo !== scope && !repo.startsWith(`${scope}/`))) return false;
      return heard.heardAt <= decidedAt && heard.newsAt + SEEN_WITHIN_MS > begunAt;
    });
    return spare.length >= believed.length;
  });
  return unfounded.map(({ name }) => name);
}
