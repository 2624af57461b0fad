import type { Database } from '@paddock/db/schema/tables';
import type { Kysely, Selectable } from 'kysely';

/** The Apps of the scheduler. */
export const APP_IDS = [1001];

/** What the last pass found for the key of a job, with or without a reason to wait. */
export async function putKey(
  db: Kysely<Database>,
  job: Selectable<Database['jobs']>,
  reason: string | null,
): Promise<void> {
  await db
    .insertInto('demand_keys')
    .values({
      demand_key: job.demand_key,
      entity_id: job.entity_id,
      entity_name: job.entity_name,
      scope_repo_id: job.scope_repo_id,
      k8s_pool: job.k8s_pool,
      waiting: 2,
      unassigned: 1,
      wait_reason: reason,
      wait_since: reason === null ? null : new Date('2026-01-31T09:00:00Z'),
    })
    .execute();
}
