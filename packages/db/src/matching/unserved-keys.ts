import type { MatchingSettings } from '@paddock/domain/matching/matching-settings';
import { NOT_ASSIGNED } from '@paddock/domain/workers/stop-reasons';
import { type Kysely, sql, type Transaction } from 'kysely';
import { KEY_BREAKER_ID } from '../breakers/breaker-subjects.ts';
import { closeBreakers } from '../breakers/close-breakers.ts';
import { noting } from '../breakers/note-failure.ts';
import { installationToday } from '../entities/installation-today.ts';
import { prepared } from '../connection/prepared.ts';
import type { Database, EntityType } from '../schema/tables.ts';
import { ANSWER_AGE_LIMIT } from '../workers/request-stops.ts';
import { LIVE, STOPPING } from '../states/worker-states.ts';
import { POOLS_IN_FORCE } from '../pools/pools-documents.ts';

// A key to whose idle workers GitHub gives no job has a breaker with a class of its own. No task
// passes it: the matcher makes no worker while it is paused, then one, whose life is the trial.

/** Breaker `b` is one of a key. */
const OF_KEY = sql`b.subject_type = 'pool' and b.failure_class = ${sql.lit(NOT_ASSIGNED)}`;
/** The demand key of breaker `b`; null: it is none of a key. */
const KEY = sql`nullif(split_part(b.subject_id, '#', 2), '')::bigint`;

/** The worker ends because it got no job although one waited. */
const BLAMED = sql`${STOPPING} and stop_reason = ${sql.lit(NOT_ASSIGNED)} and assigned_at is null`;

/** The first failure has the worker replaced, the second opens the breaker. */
const FAILURES = 2;

/** A key that has just gone unserved again. */
export interface UnservedKey {
  demandKey: number;
  entityName: string;
  pool: string;
  /** How often the key has been paused; 1 the first time. */
  pauses: number;
  pausedUntil: Date;
}

/**
 * Counts a failure of each key to which GitHub gives no jobs: a worker of the key, made since its
 * last failure, ends because it was idle past its deadline while a job waited. It takes the word of
 * GitHub that a job which the worker could have had is still queued; a job that was cancelled
 * unheard proves nothing. Returns the keys that are paused now.
 */
export async function noteUnservedKeys(
  trx: Transaction<Database>,
  { unservedPauses }: Pick<MatchingSettings, 'unservedPauses'>,
): Promise<UnservedKey[]> {
  const { rows } = await sql<UnservedKey>`${prepared}
    with blamed as (
      select demand_key, k8s_pool, ${KEY_BREAKER_ID} as id, min(entity_name) as entity_name, max(created_at) as made_at
      from workers w where ${BLAMED}
        and exists (
          select from jobs j where j.demand_key = w.demand_key and j.wants_worker and j.created_at <= coalesce(w.registered_at, w.created_at)
            and j.seen_gone_at is null and j.looked_up_at >= w.stopping_at - ${ANSWER_AGE_LIMIT})
      group by demand_key, k8s_pool, id
    ),
    charged as materialized (
      select 'pool' as type, id, null::bigint as entity_id, null::text as worker,
        coalesce(b.message, 'GitHub gives idle runners no job although one waits.') as message
      from blamed left join breakers b on ${OF_KEY} and b.subject_id = id
      -- A replacement: it was made in the transaction that noted the last failure, or later.
      where b.failed_at is null or made_at >= b.failed_at
    ),
    noted as (${noting({ failures: FAILURES, ...unservedPauses }, NOT_ASSIGNED, sql`message`)})
    select demand_key as "demandKey", entity_name as "entityName", k8s_pool as pool, pauses, paused_until as "pausedUntil"
    from noted join blamed on id = subject_id where pauses > 0`.execute(trx);
  return rows;
}

/**
 * Breakers of keys whose worker has got a job since the last failure. Live workers are read once
 * for all keys, and not at all without such a breaker: a join would read them for each key.
 */
const SERVED = sql`from breakers b where ${OF_KEY} and b.failed_at <= (
        (select jsonb_object_agg(demand_key, assigned_at) from (
          select demand_key, max(assigned_at) as assigned_at from workers where ${LIVE} group by demand_key) served
        ) ->> split_part(b.subject_id, '#', 2))::timestamptz`;

/** Call it only if there are some: it wakes the matcher even if it closes none. */
export async function closeServedKeys(trx: Transaction<Database>): Promise<void> {
  await sql`${prepared} ${closeBreakers(SERVED)}`.execute(trx);
}

/**
 * Call it when GitHub has said that these jobs had ended while they waited here. Closes the
 * breakers of their keys if no job waits that did at the last failure: that explains why their
 * workers got none.
 */
export async function closeFoundOutKeys(
  trx: Transaction<Database>,
  jobIds: readonly number[],
): Promise<void> {
  if (jobIds.length === 0) return;
  await closeBreakers(sql`
      from breakers b where ${OF_KEY} and ${KEY} in (select demand_key from jobs where job_id = any(${jobIds}::bigint[]))
        and not exists (select from jobs j where j.demand_key = ${KEY} and j.wants_worker and j.created_at <= b.failed_at)`).execute(
    trx,
  );
}

/**
 * Columns of a select: whether a worker ends that went without a job, and whether a key with a
 * breaker is served again.
 */
export const unservedSigns = sql`
  exists (
    select from workers where ${BLAMED}
  ) as "hasBlamed", exists (select ${SERVED}) as "hasServed"`;

/** What a request for the access of an unserved key's runner group takes, as it is known today. */
export interface UnservedKeyPlace {
  entityId: number;
  entityType: EntityType;
  login: string;
  appId: number;
  installationId: number;
  scopeRepoId: number;
  /** The group of its pool; null: the pool has gone. */
  runnerGroup: string | null;
}

/** Undefined: the key is served again, or no App may be used on its entity now. */
export async function findUnservedKey(
  db: Kysely<Database>,
  demandKey: number,
  appIds: readonly number[],
): Promise<UnservedKeyPlace | undefined> {
  const { rows } = await sql<UnservedKeyPlace>`
    select k.entity_id as "entityId", entity.entity_type as "entityType", entity.login, i.app_id as "appId", i.installation_id as "installationId",
      k.scope_repo_id as "scopeRepoId",
      (select p ->> 'runnerGroup' from ${POOLS_IN_FORCE} where p ->> 'name' = k.k8s_pool) as "runnerGroup"
    from demand_keys k
    ${installationToday('k', appIds, 'nothing')}
    join installations entity on entity.entity_id = k.entity_id and entity.app_id = i.app_id
    where k.demand_key = ${demandKey} and exists (select from breakers b where ${OF_KEY} and ${KEY} = k.demand_key)`.execute(
    db,
  );
  return rows[0];
}

/** Writes down a sentence about the access that a paused key's runner group gives. */
export async function saveUnservedAccess(
  db: Kysely<Database>,
  demandKey: number,
  access: string,
): Promise<void> {
  await sql`update breakers b set message = ${access} where ${OF_KEY} and ${KEY} = ${demandKey}`.execute(
    db,
  );
}
