import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';
import { hasNoTask } from './workers.ts';
import { milliseconds } from '../milliseconds.ts';
import { LIVE, STOPPING, isLive } from '../states/worker-states.ts';

/**
 * Stopping workers without a task: it has ended in an error, was discarded, or was lost in a
 * restore.
 */
export async function findStopsWithoutTask(
  db: Kysely<Database>,
  { kind, olderThanMs, limit }: { kind: string; olderThanMs: number; limit: number },
): Promise<string[]> {
  const { rows } = await sql<{ podName: string }>`
    select w.pod_name as "podName" from workers w
    where ${isLive('w')} and w.stopping_at < now() - ${milliseconds(olderThanMs)}
      and ${hasNoTask(kind)}
    order by w.stopping_at, w.pod_name limit ${limit}`.execute(db);
  return rows.map(({ podName }) => podName);
}

/** A worker that cannot be stopped, and why. */
export interface HeldStop {
  podName: string;
  heldBy: string;
}

/** Workers that one reason has kept from being stopped for long; they need a person. */
export async function findHeldStops(db: Kysely<Database>, forMs: number): Promise<HeldStop[]> {
  const { rows } = await sql<HeldStop>`
    select pod_name as "podName", stop_held_by as "heldBy" from workers
    where ${STOPPING}
      and stop_held_since < now() - ${milliseconds(forMs)}
    order by stop_held_since`.execute(db);
  return rows;
}

/** Most runners that `findListableRunners` returns. */
const MOST_LISTABLE = 100;

/**
 * The ids of the runners of a scope that GitHub should list: registered, alive, and not known to
 * have had the job after which they leave. Null for an adopted worker, whose id is not known.
 */
export async function findListableRunners(
  db: Kysely<Database>,
  { entityId, scopeRepoId }: { readonly entityId: number; readonly scopeRepoId: number },
): Promise<(number | null)[]> {
  const { rows } = await sql<{ id: number | null }>`
    select runner_id as id from workers
    where entity_id = ${entityId} and scope_repo_id = ${scopeRepoId} and ${LIVE}
      and registered_at is not null and registration_gone_at is null and assigned_at is null
    limit ${MOST_LISTABLE}`.execute(db);
  return rows.map(({ id }) => id);
}
