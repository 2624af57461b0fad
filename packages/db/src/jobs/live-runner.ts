import { sql } from 'kysely';

/** For a WHERE: the runner of this row of `jobs`, alias `j`, may still be at work: its worker lives, and its container was not seen to end. */
export const hasLiveRunner = sql<boolean>`exists (
  select from workers w where w.pod_name = j.k8s_pod and w.status in ('pending', 'running') and w.runner_ended_at is null)`;
