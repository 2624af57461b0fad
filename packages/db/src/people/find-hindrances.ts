import type { BreakerFacts, StopFacts, WaitFacts } from '@paddock/domain/why/wait-facts';
import { sql, type Transaction } from 'kysely';
import { RATE_LIMITED, REFUSED } from '../breakers/failure-classes.ts';
import { HOLDS_REGISTRATIONS } from '../breakers/waits.ts';
import { NAMES_ENTITY } from '../matching/stopped-making.ts';
import type { Database } from '../schema/tables.ts';
import { PLACELESS, UNEXPLAINED } from '../states/worker-states.ts';
import type { ExplainedJob } from './find-explained-job.ts';

type Hindrances = Pick<
  WaitFacts,
  'stops' | 'breakers' | 'budget' | 'group' | 'lostApp' | 'unexplained' | 'withoutNode'
>;

type Numbers = Pick<WaitFacts, 'unexplained' | 'withoutNode'>;

/** What people, failures, GitHub and the cluster put in the way of workers for a job. */
export async function findHindrances(
  trx: Transaction<Database>,
  explained: ExplainedJob,
  appIds: readonly number[],
): Promise<Hindrances> {
  const { installationId, job } = explained;
  const { rows: numbers } = await sql<Numbers>`
    select (select count(*) from workers where ${UNEXPLAINED} and demand_key = ${job.demandKey}) as unexplained,
      (select count(*) from workers where ${PLACELESS} and k8s_pool = ${job.pool}) as "withoutNode"`.execute(
    trx,
  );
  const { unexplained = 0, withoutNode = 0 } = numbers[0] ?? {};
  return {
    unexplained,
    withoutNode,
    stops: await findStops(trx, job),
    breakers: await findBreakers(trx, explained),
    budget: (await findBudget(trx, installationId)) ?? null,
    group: (await findGroup(trx, job.demandKey)) ?? null,
    lostApp: (await findLostApp(trx, job.entityId, appIds)) ?? null,
  };
}

/** The oldest first. */
async function findStops(
  trx: Transaction<Database>,
  { pool, entityId }: ExplainedJob['job'],
): Promise<StopFacts[]> {
  const { rows } = await sql<StopFacts>`
    select subject_type as type, stopped_by as by, stopped_at as at, note from stopped_making
    where subject_type = 'environment' or subject_type = 'pool' and subject_id = ${pool}
      or ${NAMES_ENTITY} and subject_id = ${entityId}::text
    order by stopped_at, subject_type`.execute(trx);
  return rows;
}

/** Those of what the job's workers depend on, the latest failure first. */
async function findBreakers(
  trx: Transaction<Database>,
  { appId, job }: ExplainedJob,
): Promise<BreakerFacts[]> {
  const { rows } = await sql<BreakerFacts>`
    select subject_type as type, subject_id as id, failure_class as "failureClass", failures, pauses, paused_until as "pausedUntil", message
    from breakers
    where (subject_type in ('github', 'cluster')
        or (subject_type, split_part(subject_id, '/', 1)) in (('pool', ${job.pool}), ('pool', ${job.pool} || '@' || ${job.entityId}::text),
          ('pool', ${job.pool} || '@' || ${job.entityId}::text || '#' || ${job.demandKey}::text), ('app', ${appId}::text),
          ('installation', ${job.entityId}::text), ('repository', ${job.scopeRepoId}::text)))
      and failure_class <> ${REFUSED} and (failure_class <> ${RATE_LIMITED} or ${HOLDS_REGISTRATIONS})
    order by (paused_until > now()) is true desc, pauses > 0 desc, failed_at desc`.execute(trx);
  return rows;
}

const findBudget = (trx: Transaction<Database>, installationId: number) =>
  trx
    .selectFrom('registration_budgets')
    .select(['remaining', 'reset_at as resetAt'])
    .where('installation_id', '=', installationId)
    .where('reset_at', '>', sql<Date>`now()`)
    .executeTakeFirst();

const findGroup = (trx: Transaction<Database>, demandKey: number) =>
  trx
    .selectFrom('runner_groups')
    .select(['name', 'excess'])
    .where('demand_key', '=', demandKey)
    .executeTakeFirst();

/**
 * A configured App before others, and a suspension before a removal: the suspended App is the one
 * that is left.
 */
const findLostApp = (trx: Transaction<Database>, entityId: number, appIds: readonly number[]) =>
  trx
    .selectFrom('installations')
    .select(['app_id as app', sql<Date>`coalesce(deleted_at, suspended_at)`.as('at')])
    .where('entity_id', '=', entityId)
    .where(sql<boolean>`coalesce(deleted_at, suspended_at) is not null`)
    .orderBy(sql`app_id = any(${appIds}::bigint[])`, 'desc')
    .orderBy(sql`deleted_at is not null`)
    .orderBy('at', 'desc')
    .limit(1)
    .executeTakeFirst();
