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
  readonly breakers: readonly PoolBreaker[];
  /** Jobs that started within the last hour, of the newest 10 000. */
  readonly started: number;
  /** How long they had been queued at GitHub, in milliseconds; null without any. */
  readonly queuedP50Ms: number | null;
  readonly queuedP95Ms: number | null;
}

/** A failure that holds back new workers of a pool: its own, GitHub's or the cluster's. */
export interface PoolBreaker {
  readonly failureClass: string;
  readonly subject: 'pool' | 'github' | 'cluster';
  /** Only workers of this entity are held back; null: of all. */
  readonly entityId: number | null;
  /** Of this entity, as GitHub last said; null also if GitHub never did. */
  readonly login: string | null;
  readonly message: string;
  /** As JSON has it. Past: one worker may try. */
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
    ), open as materialized (
      select *, (select login from installations where entity_id = "entityId" order by deleted_at desc nulls first, updated_at desc limit 1) as login
      from (select subject_type as subject, split_part(subject_id, '@', 1) as pool, paused_until, failure_class, message,
          nullif(split_part(split_part(subject_id, '@', 2), '#', 1), '')::bigint as "entityId"
        from breakers where subject_type in ('pool', 'github', 'cluster') and pauses > 0) paused
    )
    select named.pool, labels is not null as "isInForce", coalesce(labels, '[]') as labels, "maxWorkers", coalesce(waiting, 0) as waiting,
      "oldestWaitingAt", "oldestJobId", coalesce(alive, 0) as alive, coalesce(starting, 0) as starting, coalesce(idle, 0) as idle, coalesce(busy, 0) as busy,
      coalesce(stopping, 0) as stopping, to_jsonb(array(
        select jsonb_build_object('subject', subject, 'failureClass', failure_class, 'entityId', "entityId", 'login', login, 'message', message,
          'pausedUntil', paused_until)
        from open where subject <> 'pool' or open.pool = named.pool order by paused_until desc nulls last, failure_class, "entityId"
      )) as breakers, coalesce(started, 0) as started, ms[1] as "queuedP50Ms",
      ms[2] as "queuedP95Ms"
    from (in_force full join demand using (pool) full join supply using (pool)) named left join recent using (pool)
    order by named.pool`.execute(db);
  return rows;
}

/** More would cost more than the figure is worth. */
const MOST_RECENT = 10_000;

/** A clock of GitHub's may be ahead of its own. */
const QUEUED_MS = sql`greatest(0, extract(epoch from started_at - queued_at) * 1000)::float8`;
