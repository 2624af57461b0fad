import { type Kysely, sql, type Transaction } from 'kysely';
import { type Failure, noting, type Noting } from './breakers.ts';
import type { Database } from '../schema/tables.ts';
import { OUTDATED_RUNNER } from '../workers/outdated-runners.ts';

// What a worker's end says of its pool may be its account's doing: a workflow can end its own runner, an administrator can delete fresh
// registrations. So it counts against the account there as well, and holds back others only once it has happened to two accounts.

/** A failure of a worker that its account may have caused. */
export interface WorkerFailure extends Omit<Failure, 'subject'> {
  readonly podName: string;
}

/**
 * Counts a failure of a worker that has no job, against its pool and against its account there. Whoever binds the worker to a job waits for
 * this statement, or this one for them: then nothing is counted.
 */
export async function noteWorkerFailure({ db, breakerRules }: Noting, { podName, failureClass, message }: WorkerFailure): Promise<void> {
  await sql`
    with worker as materialized (
      select pod_name, k8s_pool, entity_id from workers where pod_name = ${podName} and assigned_at is null for share
    ),
    charged as materialized (
      select 'pool' as type, k8s_pool as id, entity_id, pod_name as worker from worker
      union all
      select 'pool', ${ACCOUNT_IN_POOL}, entity_id, pod_name from worker
    )
    ${noting(breakerRules, failureClass, message)}`.execute(db);
}

/** The id of the account's breaker in its pool, of a row of `workers`. */
const ACCOUNT_IN_POOL = sql.raw<string>(`k8s_pool || '@' || entity_id`);

/** One log may be a stranger's words, and one exit code another program's; two runners that say the same are none. */
const OUTDATED_FAILURES = 2;

/**
 * Counts a runner to which GitHub has said that it serves its version no more. That is so plain that the second opens a breaker. Only the
 * runner's log tells it, and a job can write there: the account may have caused it.
 */
export async function noteOutdatedRunner({ db, breakerRules }: Noting, failure: Omit<WorkerFailure, 'failureClass'>): Promise<void> {
  const rules = { ...breakerRules, failures: OUTDATED_FAILURES };
  await noteWorkerFailure({ db, breakerRules: rules }, { ...failure, failureClass: OUTDATED_RUNNER });
}

/**
 * Takes back what was counted of workers that turn out to have had a job, and wakes what that held. Of what is left a breaker stays open only
 * for as many pauses as it would have had without them, and the next trial is due at once.
 */
export async function takeBackFailures(trx: Transaction<Database>, podNames: readonly string[]): Promise<void> {
  if (podNames.length === 0) return;
  await sql`
    with counted as materialized (
      select b.subject_type, b.subject_id, b.failure_class, b.pauses > 0 as was_open, b.failures, left_over.entities, left_over.workers,
        -- The first pause began with the last of the failures that it takes, and each further one began another.
        case when b.subject_id like '%@%' or left_over.accounts > 1 then greatest(0, b.pauses - taken) else 0 end as pauses, taken
      from breakers b
      cross join lateral (
        select array_agg(entity_id order by place) as entities, array_agg(worker order by place) as workers, count(distinct entity_id) as accounts,
          cardinality(b.workers) - count(worker) as taken
        from unnest(b.entities, b.workers) with ordinality as one(entity_id, worker, place)
        where worker <> all(${podNames}::text[])
      ) left_over
      where b.subject_type = 'pool' and b.workers && ${podNames}::text[]
      order by b.subject_type, b.subject_id, b.failure_class for update of b
    ),
    remaining as materialized (
      select *, case when pauses > 0 then 0 when was_open then coalesce(cardinality(workers), 0) else greatest(0, failures - taken) end as counts
      from counted
    ),
    closed as (
      delete from breakers b using remaining r
      where (b.subject_type, b.subject_id, b.failure_class) = (r.subject_type, r.subject_id, r.failure_class) and r.pauses = 0 and r.counts = 0
    )
    update breakers b
    set failures = r.counts, pauses = r.pauses, entities = r.entities, workers = r.workers, trial_until = null,
      opened_at = case when r.pauses > 0 then b.opened_at end, paused_until = case when r.pauses > 0 then least(b.paused_until, now()) end
    from remaining r
    where (b.subject_type, b.subject_id, b.failure_class) = (r.subject_type, r.subject_id, r.failure_class) and (r.pauses > 0 or r.counts > 0)`.execute(
    trx,
  );
}

/**
 * Closes the breakers of pools a worker of which was made since the last failure and has got a job, and of the account that it was for: that
 * is a success, however late we hear of it, and although the job may run for hours yet.
 */
export async function closeServedPools(db: Kysely<Database>): Promise<void> {
  await sql`
    with served as materialized (
      select b.subject_type, b.subject_id, b.failure_class from breakers b
      -- What lies longer back is nobody's trial any more, and would take reading all workers since.
      where b.subject_type = 'pool' and b.failed_at > now() - interval '1 day' and exists (
        select from workers w
        where w.created_at > b.failed_at and w.k8s_pool = split_part(b.subject_id, '@', 1) and w.assigned_at is not null
          and (b.subject_id = w.k8s_pool or w.entity_id::text = split_part(b.subject_id, '@', 2)))
      order by b.subject_type, b.subject_id, b.failure_class for update of b
    )
    delete from breakers b using served s
    where (b.subject_type, b.subject_id, b.failure_class) = (s.subject_type, s.subject_id, s.failure_class)`.execute(db);
}

/** Forgets accounts in pools that have not failed there for a day: there may be any number of them, and most never come back. */
export async function forgetFailedAccounts(db: Kysely<Database>): Promise<void> {
  await sql`delete from breakers where subject_type = 'pool' and subject_id like '%@%' and failed_at < now() - interval '1 day'`.execute(
    db,
  );
}
