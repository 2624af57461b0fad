import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';
import { POOLS_IN_FORCE } from '../pools/pools-documents.ts';
import { LIVE } from '../states/worker-states.ts';

/** A pool of the document in force, or one that it no longer has and that jobs or workers name. */
export interface ListedPool {
  readonly pool: string;
  readonly isInForce: boolean;
  readonly labels: readonly string[];
  /** Null: as many as the entities may have. */
  readonly maxWorkers: number | null;
  readonly waiting: number;
  readonly oldestWaitingAt: Date | null;
  readonly oldestJobId: number | null;
  readonly starting: number;
  readonly idle: number;
  readonly busy: number;
  readonly stopping: number;
  /** All of these, which the cap counts. */
  readonly alive: number;
  readonly heldBack: readonly HeldBack[];
  /** Jobs that started within the last hour, of the newest 10 000. */
  readonly started: number;
  /** How long they had been queued at GitHub, in milliseconds; null without any. */
  readonly queuedP50Ms: number | null;
  readonly queuedP95Ms: number | null;
}

/** What holds back new workers of a pool: a key's workers fail, or a service is away. */
export interface HeldBack {
  /** The class of the failures, or the service: `github`, or a cluster's name. */
  readonly what: string;
  /** Only workers of this entity are held back; null: a service is away. */
  readonly entityId: number | null;
  /** Of this entity, as GitHub last said; null also if GitHub never did. */
  readonly login: string | null;
  readonly message: string;
  /** As JSON has them. Past: one worker may try; null: until the service answers. */
  readonly since: string;
  readonly pausedUntil: string | null;
}

/**
 * All pools, by name: demand, supply and what holds them back. One statement, so that the figures
 * agree. Waiting and live rows are few, and the hour's starts are looked for among the newest jobs.
 */
export async function listPools(db: Kysely<Database>): Promise<ListedPool[]> {
  const { rows } = await sql<ListedPool>`
    with in_force as materialized (
      select p ->> 'name' as pool, p -> 'labels' as labels, (p ->> 'maxWorkers')::integer as "maxWorkers" from ${POOLS_IN_FORCE}
    ), demand as materialized (
      select k8s_pool as pool, count(*) as waiting, min(created_at) as "oldestWaitingAt",
        (array_agg(job_id order by created_at, job_id))[1] as "oldestJobId" from jobs where wants_worker group by 1
    ), supply as materialized (
      select k8s_pool as pool, count(*) as alive,
        count(*) filter (where status = 'pending' and assigned_at is null and stopping_at is null) as starting,
        count(*) filter (where status = 'running' and assigned_at is null and stopping_at is null) as idle,
        count(*) filter (where assigned_at is not null) as busy,
        count(*) filter (where stopping_at is not null and assigned_at is null) as stopping
      from workers where ${LIVE} group by 1
    ), recent as materialized (
      select k8s_pool as pool, count(*) as started, percentile_cont(array[0.5, 0.95]) within group (order by ${QUEUED_MS}) as ms
      from (select * from jobs order by created_at desc limit ${MOST_RECENT}) newest
      where started_at > now() - interval '1 hour' and queued_at is not null group by 1
    ), held as materialized (
      select k8s_pool as pool, jsonb_build_object('what', failure_class, 'entityId', entity_id, 'login', coalesce((
          select login from installations i where i.entity_id = k.entity_id order by deleted_at desc nulls first, updated_at desc limit 1), entity_name),
        'message', failure_message, 'since', failing_since, 'pausedUntil', paused_until) as is_held, paused_until, entity_id
      from demand_keys k where pauses > 0
      union all
      select null, jsonb_build_object('what', service, 'entityId', null, 'login', null, 'message', message, 'since', since, 'pausedUntil', null), null, null
      from outages
    )
    select named.pool, labels is not null as "isInForce", coalesce(labels, '[]') as labels, "maxWorkers", coalesce(waiting, 0) as waiting,
      "oldestWaitingAt", "oldestJobId", coalesce(alive, 0) as alive, coalesce(starting, 0) as starting, coalesce(idle, 0) as idle, coalesce(busy, 0) as busy,
      coalesce(stopping, 0) as stopping, to_jsonb(array(
        select is_held from held where held.pool is null or held.pool = named.pool order by paused_until desc nulls first, entity_id
      )) as "heldBack", coalesce(started, 0) as started, ms[1] as "queuedP50Ms",
      ms[2] as "queuedP95Ms"
    from (in_force full join demand using (pool) full join supply using (pool)) named left join recent using (pool)
    order by named.pool`.execute(db);
  return rows;
}

/** More would cost more than the figure is worth. */
const MOST_RECENT = 10_000;

/** SQL: how long a job was queued. A clock of GitHub's may be ahead of its own. */
export const QUEUED_MS = sql`greatest(0, extract(epoch from started_at - queued_at) * 1000)::float8`;
