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
 * end.
 */
export const hasLiveRunner = sql<boolean>`exists (
  select from workers w where w.pod_name = j.k8s_pod and ${isLive('w')} and w.runner_ended_at is null)`;
