import type { Database, Db } from '@paddock/db/schema/tables';
import { workerName } from '@paddock/domain/workers/worker-name';
import { type InsertObject, type Selectable, sql } from 'kysely';

let lastNumber = 0;

/**
 * A pending worker of the organisation acme in the pool `linux`, with our instance's name; `given`
 * overrides columns.
 */
export async function putWorker(
  db: Db,
  given: Partial<InsertObject<Database, 'workers'>> = {},
): Promise<Selectable<Database['workers']>> {
  const { instance_id: instance } = await db
    .selectFrom('instance')
    .select('instance_id')
    .executeTakeFirstOrThrow();
  lastNumber += 1;
  const standard = {
    pod_name: workerName(instance, 'linux', String(lastNumber).padStart(12, '0')),
    entity_id: 90_000_001,
    entity_name: 'acme',
    entity_type: 'Organization' as const,
    app_id: 1001,
    installation_id: 51_000_001,
    scope_repo_id: 0,
    job_labels: '["linux"]',
    k8s_pool: 'linux',
    k8s_image: 'ghcr.io/acme/runner:1',
    pools_version: 1,
    namespace: 'default',
  };
  return db
    .insertInto('workers')
    .values({ ...standard, ...given })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** An instant `minutes` ago by the database's clock, for old rows. */
export const minutesAgo = (minutes: number) => sql<Date>`now() - ${minutes} * interval '1 minute'`;
