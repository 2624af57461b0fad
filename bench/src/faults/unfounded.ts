import type { Truth } from '@paddock/simulators/github/control';
import { sql } from 'kysely';
import type { Environment } from './environment.ts';

/** What an environment was told, and when. Instants in milliseconds since the epoch. */
export interface Told {
  /** When each worker was decided upon, by name. */
  readonly decidedAt: ReadonlyMap<string, number>;
  /** By id: when it first heard of the job, and when that the job waits no more. */
  readonly jobs: ReadonlyMap<number, { readonly heardAt: number; readonly newsAt: number }>;
}

/** A row bears the instant at which its transaction began, and others see it once that is over: where PostgreSQL keeps that instant, it counts. */
const SEEN_AT = sql`case when current_setting('track_commit_timestamp') = 'on' then pg_xact_commit_timestamp(xmin) else received_at end`;

export async function readTold(db: Environment['db']): Promise<Told> {
  const { rows: workers } = await sql<{ name: string; at: number }>`
    select pod_name as name, extract(epoch from created_at)::float8 * 1000 as at from workers`.execute(db);
  const { rows: jobs } = await sql<{ id: number; heardAt: number; newsAt: number | null }>`
    select job_id::float8 as id, extract(epoch from min(received_at))::float8 * 1000 as "heardAt",
      extract(epoch from min(${SEEN_AT}) filter (where event like '%.in_progress' or event like '%.completed'))::float8 * 1000 as "newsAt"
    from installation_events where job_id is not null group by job_id`.execute(db);
  return {
    decidedAt: new Map(workers.map(({ name, at }) => [name, at])),
    jobs: new Map(jobs.map(({ id, heardAt, newsAt }) => [id, { heardAt, newsAt: newsAt ?? Infinity }])),
  };
}

/** GitHub tells the time in whole seconds. */
const SECOND_MS = 1_000;

/**
 * Of the registrations in excess those that nothing we had been told called for, by name. The others were decided upon while jobs of their
 * scope waited as far as we had heard, although GitHub had given them to a runner or ended them: each such job speaks for one of those that
 * are there at the same time.
 */
export function findUnfounded({ registrations, jobs }: Truth, told: Told): string[] {
  const excess = registrations.flatMap(({ name, scope, inExcess, registeredAt, goneAt }) => {
    const decidedAt = told.decidedAt.get(name);
    if (!inExcess || decidedAt === undefined) return [];
    return [{ name, scope, decidedAt, registeredAt: Date.parse(registeredAt), goneAt: goneAt === null ? Infinity : Date.parse(goneAt) }];
  });
  const unfounded = excess.filter(({ scope, decidedAt, registeredAt }) => {
    const beside = excess.filter((other) => other.scope === scope && other.registeredAt <= registeredAt && other.goneAt >= registeredAt);
    const believed = jobs.filter(({ id, repo, leftQueueAt }) => {
      const heard = told.jobs.get(id);
      if (heard === undefined || leftQueueAt === null || (repo !== scope && !repo.startsWith(`${scope}/`))) return false;
      return heard.heardAt <= decidedAt && heard.newsAt > decidedAt && Date.parse(leftQueueAt) < registeredAt + SECOND_MS;
    });
    return beside.length > believed.length;
  });
  return unfounded.map(({ name }) => name);
}
