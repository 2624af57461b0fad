import type { LiveWorkers } from '@paddock/domain/matching/share-room';
import { type Kysely, sql } from 'kysely';
import { prepared } from '../connection/prepared.ts';
import type { Database } from '../schema/tables.ts';
import { LIVE, STOPPING } from '../states/worker-states.ts';

/** Live workers per key. Those that are stopping count in every cap until they have ended. */
export async function countLiveWorkers(db: Kysely<Database>): Promise<LiveWorkers[]> {
  const { rows } = await sql<LiveWorkers>`${prepared}
    select demand_key as "demandKey", entity_id as "entityId", scope_repo_id as "scopeRepoId", k8s_pool as pool, count(*) as alive
    from workers where ${LIVE} group by demand_key, entity_id, scope_repo_id, k8s_pool`.execute(db);
  return rows;
}

/** Live workers per key whose end has been asked for. */
export async function countStoppingWorkers(db: Kysely<Database>): Promise<LiveWorkers[]> {
  const { rows } = await sql<LiveWorkers>`${prepared}
    select demand_key as "demandKey", entity_id as "entityId", scope_repo_id as "scopeRepoId", k8s_pool as pool, count(*) as alive
    from workers where ${STOPPING} group by demand_key, entity_id, scope_repo_id, k8s_pool`.execute(
    db,
  );
  return rows;
}
