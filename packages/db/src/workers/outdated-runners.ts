import { OUTDATED_RUNNER } from '@paddock/domain/workers/stop-reasons';
import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';

/** The pod of a worker that has ended without a known job. */
export interface EndWithoutJob {
  podName: string;
  namespace: string;
  hasEndedWell: boolean;
}

const HAS_ENDED_WITHOUT_JOB = sql<boolean>`completed_at is not null and pod_uid is not null and assigned_at is null and stopping_at is null
  and stop_reason is distinct from ${OUTDATED_RUNNER}`;

/**
 * The worker, if it has ended by itself without a job and nothing says yet that its runner was
 * outdated.
 */
export async function findEndWithoutJob(
  db: Kysely<Database>,
  podName: string,
): Promise<EndWithoutJob | undefined> {
  return db
    .selectFrom('workers')
    .select([
      'pod_name as podName',
      'namespace',
      sql<boolean>`status = 'completed'`.as('hasEndedWell'),
    ])
    .where('pod_name', '=', podName)
    .where(HAS_ENDED_WITHOUT_JOB)
    .executeTakeFirst();
}

/**
 * Notes that GitHub refused the version of the worker's runner: this explains its end, which counts
 * against no waiting job. False: it has a known job by now, or this was noted before.
 */
export async function markOutdatedRunner(
  db: Kysely<Database>,
  podName: string,
  message: string,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('workers')
    .set({
      stop_reason: OUTDATED_RUNNER,
      unexplained_until: null,
      failure_info: sql`coalesce(failure_info, jsonb_build_object('version', 1, 'message', ${message}::text))`,
    })
    .where('pod_name', '=', podName)
    .where(HAS_ENDED_WITHOUT_JOB)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}
