import type { StopReason } from '@paddock/domain/workers/stop-reasons';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { Database } from '../schema/tables.ts';
import { LIVE, RETURNABLE, UNASSIGNED } from '../states/worker-states.ts';

/** One worker, or all of a pool. */
export type Drained = { readonly podName: string } | { readonly pool: string };

const DRAINED = 'drained' satisfies StopReason;

/**
 * No job is known to run on it, and it is not stopping; or it stops only until a job needs it, which
 * a drained one must not serve.
 */
const MAY_DRAIN = sql`((${UNASSIGNED}) or (${RETURNABLE}))`;

const isMeant = (drained: Drained) =>
  'podName' in drained ? sql`pod_name = ${drained.podName}` : sql`k8s_pool = ${drained.pool}`;

/**
 * Requests the stop of workers because a person asked for it: from now on they are no supply. Each
 * needs its `stop-worker` task in the same transaction. Returns their names. Workers that are
 * assigned, have ended, or are stopping anyway are left alone.
 */
export async function drainWorkers(
  trx: Transaction<Database>,
  drained: Drained,
): Promise<string[]> {
  const { rows } = await sql<{ podName: string }>`
    with locked as (
      select pod_name from workers where ${isMeant(drained)} and ${MAY_DRAIN} order by pod_name for no key update
    )
    update workers set stopping_at = coalesce(stopping_at, now()), stop_reason = ${DRAINED}
    where pod_name = any (array(select pod_name from locked)) and ${MAY_DRAIN}
    returning pod_name as "podName"`.execute(trx);
  return rows.map(({ podName }) => podName);
}

/** How many workers of a pool a drain would stop now, and how many run a job. */
export async function countPoolToDrain(
  db: Kysely<Database>,
  pool: string,
): Promise<{ stopping: number; busy: number }> {
  const { rows } = await sql<{ stopping: number; busy: number }>`
    select count(*) filter (where ${MAY_DRAIN}) as stopping, count(*) filter (where assigned_at is not null) as busy
    from workers where k8s_pool = ${pool} and ${LIVE}`.execute(db);
  return rows[0] ?? { stopping: 0, busy: 0 };
}

/** Why a worker cannot be drained, or that it is stopping already; undefined: there is none. */
export async function findDrainState(
  trx: Transaction<Database>,
  podName: string,
): Promise<'ended' | 'stopping' | 'busy' | 'idle' | undefined> {
  const { rows } = await sql<{ state: 'ended' | 'stopping' | 'busy' | 'idle' }>`
    select case when not (${LIVE}) then 'ended' when stopping_at is not null then 'stopping' when assigned_at is not null then 'busy'
      else 'idle' end as state
    from workers where pod_name = ${podName}`.execute(trx);
  return rows[0]?.state;
}
