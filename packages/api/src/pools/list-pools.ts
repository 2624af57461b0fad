import { isoText } from '@paddock/db/newest-first';
import { POOLS_IN_FORCE } from '@paddock/db/pools/pools-documents';
import type { Database } from '@paddock/db/schema/tables';
import { LIVE } from '@paddock/db/states/worker-states';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

const count = z.int().min(0);

const pool = z.object({
  name: z.string(),
  inForce: z
    .boolean()
    .describe('The pools in force have it; else jobs or workers still name it, or `(none)`'),
  labels: z.array(z.string()),
  demand: z.object({
    waiting: count.describe('Jobs that wait for a worker'),
    oldestSince: z.iso.datetime().nullable().describe('When the oldest of them was stored'),
    oldestJob: z.int().nullable().describe('Its id'),
  }),
  supply: z.object({
    starting: count.describe('Workers on their way'),
    idle: count,
    busy: count,
    stopping: count,
  }),
  cap: z
    .object({ used: count, limit: count })
    .nullable()
    .describe('The workers that live, and maxWorkers; null: the pool has no cap'),
  heldBack: z
    .array(
      z.object({
        what: z
          .string()
          .describe('How workers fail, or the service that is away: github, or a cluster'),
        entity: z
          .int()
          .nullable()
          .describe('Only workers for this entity are held back; null: a service is away'),
        login: z.string().nullable().describe('Of that entity'),
        message: z.string(),
        since: z.iso.datetime(),
        until: z.iso
          .datetime()
          .nullable()
          .describe(
            'No new workers until then; past: one may try whether it works again; null: until the service answers',
          ),
      }),
    )
    .describe('What holds new workers of the pool back'),
  lastHour: z
    .object({
      started: count,
      queuedP50Ms: z.number().nullable(),
      queuedP95Ms: z.number().nullable(),
    })
    .describe(
      'Of the newest 10 000 jobs those that started, and how long GitHub had had them queued',
    ),
});

export const listPoolsEndpoint = endpoint({
  name: 'listPools',
  method: 'GET',
  path: '/api/v1/pools',
  summary:
    'Lists all pools by name: demand, supply, caps, what holds workers back, and queue times.',
  access: 'read',
  status: 200,
  input: z.object({}),
  output: z.object({ items: z.array(pool) }),
  answer: async ({ db }) => ({ items: await listPools(db) }),
});

type Pool = z.output<typeof pool>;

/**
 * All pools, by name: demand, supply and what holds them back. One statement, so that the figures
 * agree. Waiting and live rows are few, and the hour's starts are looked for among the newest jobs.
 */
export async function listPools(db: Kysely<Database>): Promise<Pool[]> {
  const { rows } = await sql<Pool>`
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
      select k8s_pool as pool, json_build_object('what', failure_class, 'entity', entity_id, 'login', coalesce((
          select login from installations i where i.entity_id = k.entity_id order by deleted_at desc nulls first, updated_at desc limit 1), entity_name),
        'message', failure_message, 'since', ${isoText('failing_since')}, 'until', ${isoText('paused_until')}) as is_held, paused_until, entity_id
      from demand_keys k where pauses > 0
      union all
      select null, json_build_object('what', service, 'entity', null, 'login', null, 'message', message, 'since', ${isoText('since')}, 'until', null), null, null
      from outages
    )
    select named.pool as name, labels is not null as "inForce", coalesce(labels, '[]') as labels,
      json_build_object('waiting', coalesce(waiting, 0), 'oldestSince', ${isoText('oldestWaitingAt')}, 'oldestJob', "oldestJobId") as demand,
      json_build_object('starting', coalesce(starting, 0), 'idle', coalesce(idle, 0), 'busy', coalesce(busy, 0), 'stopping', coalesce(stopping, 0)) as supply,
      case when "maxWorkers" is not null then json_build_object('used', coalesce(alive, 0), 'limit', "maxWorkers") end as cap,
      to_json(array(
        select is_held from held where held.pool is null or held.pool = named.pool order by paused_until desc nulls first, entity_id
      )) as "heldBack", json_build_object('started', coalesce(started, 0), 'queuedP50Ms', ms[1], 'queuedP95Ms', ms[2]) as "lastHour"
    from (in_force full join demand using (pool) full join supply using (pool)) named left join recent using (pool)
    order by named.pool`.execute(db);
  return rows;
}

/** More would cost more than the figure is worth. */
const MOST_RECENT = 10_000;

/** SQL: how long a job was queued. A clock of GitHub's may be ahead of its own. */
export const QUEUED_MS = sql`greatest(0, extract(epoch from started_at - queued_at) * 1000)::float8`;
