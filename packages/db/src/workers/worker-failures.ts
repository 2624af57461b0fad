import { OUTDATED_RUNNER } from '@paddock/domain/workers/stop-reasons';
import { type Kysely, sql, type Transaction } from 'kysely';
import { closeBreakers } from '../breakers/close-breakers.ts';
import { type Failure, noting, type Noting } from '../breakers/note-failure.ts';
import type { Database } from '../schema/tables.ts';

// An entity may cause a worker's end: a workflow can end its own runner, an administrator can
// delete fresh registrations. So it also counts against the entity in that pool, and holds back
// others only after two entities had it.

/** A failure of a worker that its entity may have caused. */
export interface WorkerFailure extends Omit<Failure, 'subject'> {
  readonly podName: string;
}

/**
 * Counts a failure of a worker without a job, against its pool and against its entity there. If
 * that entity is held back, further failures count only against it; if this was the pool's trial,
 * the next entity may try. A transaction that binds the worker to a job waits for this statement,
 * or this one waits for it: then nothing counts.
 */
export async function noteWorkerFailure(
  { db, breakerRules }: Noting,
  { podName, failureClass, message }: WorkerFailure,
): Promise<void> {
  await sql`
    with worker as materialized (
      select pod_name, k8s_pool, entity_id,
        exists (select from breakers where subject_type = 'pool' and subject_id = ${ENTITY_IN_POOL} and pauses > 0) as is_held
      from workers where pod_name = ${podName} and assigned_at is null for share
    ),
    given_back as (
      update breakers set trial_until = null from worker
      where is_held and (subject_type, subject_id, failure_class) = ('pool', k8s_pool, ${failureClass}::text)
      returning subject_id
    ),
    charged as materialized (
      select 'pool' as type, k8s_pool as id, entity_id, pod_name as worker from worker where not is_held
      union all
      -- After the pool, in the order in which all lock them.
      select 'pool', ${ENTITY_IN_POOL}, entity_id, pod_name from worker cross join (select count(*) from given_back) pool_first
    )
    ${noting(breakerRules, failureClass, message)}`.execute(db);
}

/** The id of the entity's breaker in its pool, of a row of `workers`. */
const ENTITY_IN_POOL = sql.raw<string>(`k8s_pool || '@' || entity_id`);

/**
 * One log may be a stranger's words, and one exit code another program's; two runners that say the
 * same are none.
 */
const OUTDATED_FAILURES = 2;

/**
 * Counts a runner whose version GitHub refused. The second one opens a breaker, because the reason
 * is certain. Only the runner's log says it, and a job can write there, so the entity may have
 * caused it.
 */
export async function noteOutdatedRunner(
  { db, breakerRules }: Noting,
  failure: Omit<WorkerFailure, 'failureClass'>,
): Promise<void> {
  const rules = { ...breakerRules, failures: OUTDATED_FAILURES };
  await noteWorkerFailure(
    { db, breakerRules: rules },
    { ...failure, failureClass: OUTDATED_RUNNER },
  );
}

/**
 * Takes back counted failures of workers that had a job after all, and wakes the tasks that waited
 * for the breaker. Runs with the owner's rights (`take_back_failures`): ingress binds workers but
 * may not write breakers.
 */
export async function takeBackFailures(
  trx: Transaction<Database>,
  podNames: readonly string[],
): Promise<void> {
  if (podNames.length > 0) await sql`select take_back_failures(${podNames}::text[])`.execute(trx);
}

/**
 * Closes the breakers of pools in which a worker made or registered since the last failure got a
 * job, and of its entity there. That is a success, even if it is reported late and the job still
 * runs. A reservation of before the failure may be the trial: it registers after the pause.
 */
export async function closeServedPools(db: Kysely<Database>): Promise<void> {
  await closeBreakers(sql`
      from breakers b
      -- An older failure has no trial under way, and all workers since would have to be read.
      where b.subject_type = 'pool' and b.subject_id not like '%#%' and b.failed_at > now() - interval '1 day' and exists (
        select from workers w
        -- The first condition is for the index.
        where w.created_at > b.failed_at - interval '1 hour' and greatest(w.created_at, w.registration_started_at) > b.failed_at and w.k8s_pool = split_part(b.subject_id, '@', 1) and w.assigned_at is not null
          and (b.subject_id = w.k8s_pool or w.entity_id::text = split_part(b.subject_id, '@', 2)))`).execute(
    db,
  );
}

/**
 * Forgets entities in pools, and their keys, that have not failed there for a day: there may be any
 * number of them, and most never come back.
 */
export async function forgetFailedEntities(db: Kysely<Database>): Promise<void> {
  await closeBreakers(sql`
      from breakers b
      where b.subject_type = 'pool' and b.subject_id like '%@%' and b.failed_at < now() - interval '1 day'`).execute(
    db,
  );
}
