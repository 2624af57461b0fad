import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';
import type { PodFailure, PlayedCluster } from './play-in-cluster.ts';

const DONE: Record<PodFailure, string> = {
  evicted: 'evicted by its node before its runner began',
  image_pull: 'its node could not pull its image',
  node_lost: 'its node vanished before its runner began',
};

interface Outcome {
  name: string;
  status: string;
  reason: string | null;
  /** What the stop of a worker that has not ended waits for. */
  heldBy: string | null;
  seconds: number | null;
  /** The worker that ran the job for which this one was made; null: the job was not run yet. */
  ranOn: string | null;
}

/**
 * One line for each pod that failed on purpose: its failure, and how its worker and the job it was
 * made for ended, by the database.
 */
export async function tellFailures(
  db: Kysely<Database>,
  failures: PlayedCluster['failures'],
): Promise<string> {
  const { rows } = await sql<Outcome>`
    select w.pod_name as name, w.status::text as status, w.stop_reason as reason, w.stop_held_by as "heldBy", j.k8s_pod as "ranOn",
      round(extract(epoch from w.completed_at - w.created_at))::float8 as seconds
    from workers w left join jobs j on j.job_id = w.made_for_job_id
    where w.pod_name = any(${[...failures.keys()]}) order by w.created_at`.execute(db);
  return rows
    .map((row) => `  ${row.name}: ${DONE[failures.get(row.name) ?? 'evicted']}; ${outcomeOf(row)}`)
    .join('\n');
}

const outcomeOf = ({ status, reason, heldBy, seconds, ranOn }: Outcome): string =>
  `${status}${reason === null ? '' : ` (${reason})`}${seconds === null ? stillThere(heldBy) : ` after ${seconds} s`}, its job ${ranOn === null ? 'did not run' : `ran on ${ranOn}`}`;

const stillThere = (heldBy: string | null): string =>
  heldBy === null ? '' : `, held up: ${heldBy}`;

/** How many pods failed in each way. */
export function countFailures(failures: PlayedCluster['failures']): Record<PodFailure, number> {
  const counts = { evicted: 0, image_pull: 0, node_lost: 0 };
  for (const failure of failures.values()) counts[failure] += 1;
  return counts;
}
