import { WORKER_TASK } from '@paddock/domain/tasks/worker-tasks';
import type { Truth } from '@paddock/simulators/github/truth';
import { sql } from 'kysely';
import type { Environment } from '../stage/environment.ts';

/** An environment's knowledge, and when it got it. Instants in milliseconds since the epoch. */
export interface Knowledge {
  /**
   * By name: when the decision for the worker began and ended, and when we stopped counting on it
   * for a waiting job.
   */
  readonly workers: ReadonlyMap<
    string,
    { readonly begunAt: number; readonly decidedAt: number; readonly spareUntil: number }
  >;
  /**
   * By id, for the environment's jobs: when it first knew of the job, and when it knew that the job
   * waits no longer.
   */
  readonly jobs: ReadonlyMap<number, { readonly heardAt: number; readonly newsAt: number }>;
}

/**
 * A row has the instant at which its transaction began, but others see it only after the commit. If
 * PostgreSQL keeps the commit's instant, that one counts.
 */
const SEEN_AT = sql`case when current_setting('track_commit_timestamp') = 'on' then pg_xact_commit_timestamp(xmin) else received_at end`;

/**
 * A worker's row has the instant at which its transaction began. The transaction may have waited
 * for the lock before it counted jobs, so this column adds a later instant.
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

export async function readKnowledge(db: Environment['db']): Promise<Knowledge> {
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
 * The registrations that nothing in the environment's knowledge called for, by name, even if they
 * ran a job by luck. At the decision, the known waiting jobs of their scope were no more than our
 * spare workers. Changes of that moment count in their favour.
 */
export function findUnfounded({ registrations, jobs }: Truth, knowledge: Knowledge): string[] {
  const made = registrations
    .flatMap(({ name, scope }) => {
      const worker = knowledge.workers.get(name);
      return worker === undefined ? [] : [{ name, scope, ...worker }];
    })
    .toSorted((a, b) => a.decidedAt - b.decidedAt);
  const unfounded = made.filter(({ scope, begunAt, decidedAt }, index) => {
    const spare = made
      .slice(0, index)
      .filter((other) => other.scope === scope && other.spareUntil > decidedAt);
    const believed = jobs.filter(({ id, repo }) => {
      const heard = knowledge.jobs.get(id);
      if (heard === undefined || (repo !== scope && !repo.startsWith(`${scope}/`))) return false;
      return heard.heardAt <= decidedAt && heard.newsAt + SEEN_WITHIN_MS > begunAt;
    });
    return spare.length >= believed.length;
  });
  return unfounded.map(({ name }) => name);
}
