import { sql } from 'kysely';
import { isLive } from './worker-states.ts';

// SQL about a row of `jobs`, by its alias.

/**
 * The job has ended; as text, for statements that are composed once. A look-up may revive a failed
 * job.
 */
export const hasEnded = (job: string): string => `${job}.status in ('completed', 'failed')`;

/** The job waits or runs. */
export const isUnended = (job: string) =>
  sql.raw<boolean>(`${job}.status in ('pending', 'running')`);

/**
 * The runner of job `j` may still be at work: its worker lives, and its container was not seen to
 * end. `offset 0` makes it a look-up by name: a plan that was kept while few workers lived would
 * read all that live, for each job.
 */
export const hasLiveRunner = sql<boolean>`exists (
  select from (select status, runner_ended_at from workers where pod_name = j.k8s_pod offset 0) w
  where ${isLive('w')} and w.runner_ended_at is null)`;
