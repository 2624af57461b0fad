import type { GroupAccess } from '@paddock/domain/pools/group-excess';
import { NOT_ASSIGNED } from '@paddock/domain/workers/stop-reasons';
import { type Kysely, sql } from 'kysely';
import { prepared } from '../connection/prepared.ts';
import type { Database } from '../schema/tables.ts';
import { milliseconds } from '../milliseconds.ts';
import { NO_FAILURES } from '../workers/failing-keys.ts';

export interface GroupToSave {
  readonly entityId: number;
  readonly pool: string;
  readonly name: string;
  /** Undefined: GitHub shows no group of that name. */
  readonly access: GroupAccess | undefined;
  /** A sentence that says what it lets in beyond what the pool serves. */
  readonly excess: string | undefined;
  /** For how long no runner is registered there, in milliseconds; undefined: runners are. */
  readonly pauseMs: number | undefined;
}

/**
 * Writes down what a pool's runner group lets in. Where that has changed, forgets that idle runners
 * got no job there. Returns whether it now lets in other things too much than before.
 */
export async function saveRunnerGroup(db: Kysely<Database>, group: GroupToSave): Promise<boolean> {
  const { entityId, pool, name, access, excess = null, pauseMs = null } = group;
  const {
    visibility = null,
    allowsPublicRepositories = null,
    workflows = null,
    repositories = null,
  } = access ?? {};
  const { rows } = await sql<{ isNews: boolean }>`${prepared}
    with stated as (
      select demand_key_of(${entityId}::bigint, 0, ${pool}::text) as demand_key, ${excess}::text as excess
    ),
    saved as (
      insert into runner_groups as g (demand_key, entity_id, k8s_pool, name, visibility, allows_public_repositories, workflows, repositories,
        excess, paused_until)
      select demand_key, ${entityId}::bigint, ${pool}::text, ${name}::text, ${visibility}::text, ${allowsPublicRepositories}::boolean,
        ${workflows && JSON.stringify(workflows)}::jsonb, ${repositories && JSON.stringify(repositories)}::jsonb,
        excess, now() + ${milliseconds(pauseMs)}
      from stated
      on conflict (demand_key) do update set name = excluded.name, visibility = excluded.visibility,
        allows_public_repositories = excluded.allows_public_repositories, workflows = excluded.workflows,
        repositories = excluded.repositories, excess = excluded.excess, paused_until = excluded.paused_until, read_at = now()
    ),
    -- Other jobs may use it now: that may end why idle runners got none.
    forgotten as (
      update demand_keys k set ${NO_FAILURES} from stated join runner_groups known using (demand_key)
      where k.demand_key = stated.demand_key and k.failure_class = ${NOT_ASSIGNED}
        and (known.name, known.visibility, known.allows_public_repositories, known.workflows, known.repositories) is distinct from
          (${name}::text, ${visibility}::text, ${allowsPublicRepositories}::boolean,
            ${workflows && JSON.stringify(workflows)}::jsonb, ${repositories && JSON.stringify(repositories)}::jsonb)
    )
    select stated.excess is distinct from known.excess as "isNews" from stated left join runner_groups known using (demand_key)`.execute(
    db,
  );
  return rows[0]?.isNews === true;
}
