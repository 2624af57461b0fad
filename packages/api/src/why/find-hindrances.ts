import type {
  FailingFacts,
  OutageFacts,
  ToldFacts,
  WaitFacts,
} from '@paddock/domain/why/wait-facts';
import { sql, type Transaction } from 'kysely';
import type { Database } from '@paddock/db/schema/tables';
import { PLACELESS, UNEXPLAINED } from '@paddock/db/states/worker-states';
import { findSwitches } from '@paddock/db/switches';
import type { ExplainedJob } from './find-explained-job.ts';

type Hindrances = Pick<
  WaitFacts,
  | 'switches'
  | 'failing'
  | 'outages'
  | 'told'
  | 'budget'
  | 'group'
  | 'lostApp'
  | 'unexplained'
  | 'withoutNode'
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
      (select count(*) from workers where ${PLACELESS} and demand_key = ${job.demandKey}) as "withoutNode"`.execute(
    trx,
  );
  const { unexplained = 0, withoutNode = 0 } = numbers[0] ?? {};
  return {
    unexplained,
    withoutNode,
    switches: await findSwitches(trx, [
      'environment',
      `pool:${job.pool}`,
      `entity:${job.entityId}`,
    ]),
    failing: (await findFailures(trx, job.demandKey)) ?? null,
    outages: await findOutages(trx),
    told: await findTold(trx, explained),
    budget: (await findBudget(trx, installationId)) ?? null,
    group: (await findGroup(trx, job)) ?? null,
    lostApp: (await findLostApp(trx, job.entityId, appIds)) ?? null,
  };
}

/** Every worker needs GitHub and the cluster. */
const findOutages = (trx: Transaction<Database>): Promise<OutageFacts[]> =>
  trx.selectFrom('outages').selectAll().orderBy('service').execute();

const findFailures = (
  trx: Transaction<Database>,
  demandKey: number,
): Promise<FailingFacts | undefined> =>
  trx
    .selectFrom('demand_keys')
    .select([
      'failures',
      sql<Date>`failing_since`.as('since'),
      'paused_until as pausedUntil',
      sql<string>`failure_message`.as('message'),
    ])
    .where('demand_key', '=', demandKey)
    .where('failures', '>', 0)
    .executeTakeFirst();
/** What ends last first. */
async function findTold(
  trx: Transaction<Database>,
  { appId, job: { entityId, scopeRepoId } }: ExplainedJob,
): Promise<ToldFacts[]> {
  const ofInstallation = sql`from installations where entity_id = ${entityId} and app_id = ${appId}`;
  const { rows } = await sql<ToldFacts>`
    select 'github_budget' as reason, wait_until as until, wait_message as message ${ofInstallation} and wait_until > now()
    union all
    select refused_reason, refused_until, refused_message ${ofInstallation} and refused_since is not null
    union all
    select refused_reason, refused_until, refused_message from apps where app_id = ${appId} and refused_since is not null
    union all
    select refused_reason, refused_until, refused_message from repositories where repo_id = ${scopeRepoId} and refused_since is not null
    order by until desc`.execute(trx);
  return rows;
}

const findBudget = (trx: Transaction<Database>, installationId: number) =>
  trx
    .selectFrom('installations')
    .select(['registrations_left as remaining', 'registrations_reset_at as resetAt'])
    .where('installation_id', '=', installationId)
    .where('registrations_reset_at', '>', sql<Date>`now()`)
    .$narrowType<{ remaining: number; resetAt: Date }>()
    .executeTakeFirst();

const findGroup = (trx: Transaction<Database>, { demandKey, repoFullName }: ExplainedJob['job']) =>
  trx
    .selectFrom('runner_groups')
    .select([
      'name',
      'excess',
      sql<boolean>`coalesce(visibility = 'selected' and not lower(repositories::text)::jsonb ? lower(${repoFullName}::text), false)`.as(
        'lacksRepository',
      ),
    ])
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
