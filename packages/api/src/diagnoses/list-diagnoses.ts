import { findMatchingSettings } from '@paddock/db/instance';
import { rowsOf } from '@paddock/db/rows';
import type { Database, Db } from '@paddock/db/schema/tables';
import {
  diagnoseEntity,
  type AuthFailures,
  type EntityFacts,
  type IgnoredJobs,
  type InstalledApp,
  type WaitingKey,
} from '@paddock/domain/entities/diagnose-entity';
import { type NotNull, type Selectable, sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { readFleetDiagnoses } from './read-fleet-diagnoses.ts';
import { SAID_BY_GITHUB } from '../installations/installations.ts';
import { instant } from '../lists/dates.ts';
import { requireKnown } from '../switches/switches.ts';
import { findEntityByLogin, findRepositoryByName, ID } from '../lists/named.ts';

export const listDiagnosesEndpoint = endpoint({
  name: 'listDiagnoses',
  path: '/api/v1/diagnoses',
  summary:
    'Says what is wrong with an entity or a repository, or what holds back work anywhere, and who can mend it, the worst first.',
  input: z.object({
    of: z
      .string()
      .max(300)
      .regex(/^[^/\s]+(\/[^/\s]+)?$/, 'must be a login, an id, or OWNER/NAME')
      .optional()
      .describe(
        'A login, also a former one, an id, or OWNER/NAME of a repository; without it: what holds back work anywhere',
      ),
    pool: z
      .string()
      .max(300)
      .optional()
      .describe('Without `of`: what holds back work of this pool'),
  }),
  output: z.object({
    entity: z.object({ id: z.int(), login: z.string().nullable() }).nullable(),
    items: z.array(
      z.object({
        name: z
          .string()
          .describe('As `not_installed`, `suspended`, `repository_not_selected` or `at_cap`'),
        sentence: z.string(),
        since: instant.nullable(),
        actor: z.enum(['wait', 'author', 'platform']),
        advice: z.string(),
        subject: z.string().nullish().describe('Of the fleet: what it is about, if that is one'),
        act: z.enum(['resume', 'try-again']).nullish().describe('What may be done about it here'),
        until: instant.nullable().optional().describe('Of the fleet: when it is tried again'),
        jobs: z.int().optional().describe('Of the fleet: how many waiting jobs it holds back'),
        job: z.int().nullable().optional().describe('The oldest of them'),
        pools: z.array(z.string()).optional().describe('Of the fleet: whose'),
      }),
    ),
  }),
  async answer(caller, { of, pool }) {
    const { db } = caller;
    if (of === undefined && pool !== undefined) await requireKnown(caller, `pool:${pool}`);
    if (of === undefined) return { entity: null, items: [...(await readFleetDiagnoses(db, pool))] };
    const [login = '', repository = null] = of.split('/');
    const id = ID.test(login) ? Number(login) : await findEntityByLogin(db, login);
    const asked = { login, repository };
    const facts = await findDiagnosisFacts(db, { asked, entityId: id ?? NOBODY });
    return { entity: facts.entity, items: [...diagnoseEntity(facts)] };
  },
});

const MOST_EVENTS = 1_000;
/** Of one installation; without those before, its beginning is unknown. */
const MOST_OF_INSTALLATION = 2_000;
/** Stands for an entity or a repository that no row names. GitHub's ids begin at 1. */
const NOBODY = 0;

interface Subject {
  readonly asked: EntityFacts['asked'];
  readonly entityId: number;
}

async function findDiagnosisFacts(db: Db, { asked, entityId }: Subject): Promise<EntityFacts> {
  const configuredApps = (await findMatchingSettings(db))?.appIds ?? null;
  const apps = await findApps(db, entityId, asked.repository);
  const login = apps[0]?.login ?? null;
  const repoId =
    asked.repository === null
      ? null
      : ((await findRepositoryByName(db, `${login ?? asked.login}/${asked.repository}`)) ?? NOBODY);
  return {
    asked,
    configuredApps,
    entity: entityId === NOBODY ? null : { id: entityId, login },
    installations: apps,
    ...(await findSeen(db, entityId, repoId)),
    ignored: await findOutcomes(db, entityId, repoId),
    authFailures: await findAuthFailures(db, entityId, apps),
    undelivered: await findUndelivered(db, apps),
    waiting: await findWaitingKeys(db, entityId, repoId),
  };
}

type App = InstalledApp & { readonly login: string };

const findApps = (db: Db, entityId: number, repository: string | null) => rowsOf<App>(db)`
    select login, app_id as "appId", installation_id as "installationId", repository_selection as selection, suspended_at as "suspendedAt",
      deleted_at as "deletedAt", ${repository === null ? sql`null` : choiceOf(repository)} as choice
    from installations i where entity_id = ${entityId} order by deleted_at desc nulls first, updated_at desc`;

/**
 * What the installation `i` says of a repository by the newest event that names it, in GitHub's
 * order: a creation comes first, whenever it arrives. It is `never` selected if the creation is
 * stored, which names all that were selected then, and they were never all.
 */
const choiceOf = (repository: string) => sql`(
  with said as materialized (
    select id, event, received_at, payload #>> '{installation,updated_at}' as stated_at,
      ${names('repositories', repository)} or ${names('repositories_added', repository)} as adds, ${names('repositories_removed', repository)} as removes,
      coalesce(payload ->> 'repository_selection', payload #>> '{installation,repository_selection}') as selection
    from installation_events e
    where e.installation_id = i.installation_id and ${SAID_BY_GITHUB} order by received_at desc, id desc limit ${MOST_OF_INSTALLATION}
  )
  select coalesce(
    (select case when adds then 'selected' else 'removed' end from said where adds or removes
      order by event = 'installation.created', stated_at desc nulls last, received_at desc, id desc limit 1),
    case when exists (select from said where event = 'installation.created') and not exists (select from said where selection = 'all') then 'never' else 'unknown' end
  ))`;

/** Whether a list of the payload names the repository; owners may have other names by now. */
const names = (field: string, repository: string) => sql`exists (
  select from jsonb_path_query(payload, ${sql.lit(`lax $.${field}[*].full_name`)}) one
  where lower(split_part(one #>> '{}', '/', 2)) = lower(${repository}))`;

const newestOf = (entityId: number) =>
  sql<Selectable<Database['installation_events']>>`(
  select source, event, outcome, app_id, installation_id, repo_id, job_id, received_at from installation_events
  where entity_id = ${entityId} order by received_at desc limit ${MOST_EVENTS})`.as('newest');

const findOutcomes = (db: Db, entityId: number, repoId: number | null): Promise<IgnoredJobs[]> =>
  db
    .selectFrom(newestOf(entityId))
    .select(({ fn }) => [
      'outcome',
      fn.countAll<number>().as('count'),
      fn.min('received_at').as('since'),
      fn.max('received_at').as('lastAt'),
      sql<
        number | null
      >`(array_agg(job_id order by received_at desc) filter (where job_id is not null))[1]`.as(
        'lastJobId',
      ),
    ])
    .where('source', '=', 'webhook')
    .$if(repoId !== null, (query) => query.where('repo_id', '=', repoId))
    .groupBy('outcome')
    .orderBy('count', 'desc')
    .orderBy('outcome')
    .execute();

type Seen = Pick<EntityFacts, 'installationsSeen' | 'lastDeliveryAt' | 'isRepositorySeen'>;

async function findSeen(db: Db, entityId: number, repoId: number | null): Promise<Seen> {
  const rows = await db
    .selectFrom(newestOf(entityId))
    .select(['app_id as appId', 'installation_id as installationId'])
    .select(({ fn }) => fn.max('received_at').as('lastAt'))
    .select(sql<boolean | null>`bool_or(repo_id = ${repoId}::bigint)`.as('isOfIt'))
    .where('source', '=', 'webhook')
    .groupBy(['app_id', 'installation_id'])
    .orderBy('lastAt', 'desc')
    .execute();
  return {
    installationsSeen: rows.flatMap(({ appId, installationId, lastAt }) =>
      appId === null || installationId === null ? [] : [{ appId, installationId, lastAt }],
    ),
    lastDeliveryAt: rows[0]?.lastAt ?? null,
    isRepositorySeen: rows.some(({ isOfIt }) => isOfIt === true),
  };
}

/** Of the last day: those that name the entity, and those of its Apps that name none. */
const findAuthFailures = (db: Db, entityId: number, apps: readonly App[]) =>
  rowsOf<AuthFailures>(db)`
    select app_id as "appId", count(*) as count, min(received_at) as since, bool_and(event = 'auth_attempt.404') as "isNotFound"
    from (
      select app_id, event, received_at from ${newestOf(entityId)} where received_at > now() - interval '1 day'
      union all
      (select app_id, event, received_at from installation_events
        where entity_id is null and app_id = any(${apps.map(({ appId }) => appId)}::bigint[]) and installation_id is null
          and received_at > now() - interval '1 day' order by received_at desc limit ${MOST_EVENTS})
    ) events
    where event like 'auth_attempt.%' and app_id is not null group by app_id order by app_id`;

/** Few rows are unresolved, unless GitHub cannot reach us at all. */
async function findUndelivered(db: Db, apps: readonly App[]): Promise<EntityFacts['undelivered']> {
  const installationIds = apps.map(({ installationId }) => installationId);
  const { count, since } = await db
    .selectFrom('unresolved_deliveries')
    .select(({ fn }) => [
      fn.countAll<number>().as('count'),
      fn.min<Date | null>('first_failed_at').as('since'),
    ])
    .where('resolved_at', 'is', null)
    .where('app_id', '=', sql<number>`any(${apps.map(({ appId }) => appId)}::bigint[])`)
    .where('installation_id', '=', sql<number>`any(${installationIds}::bigint[])`)
    .executeTakeFirstOrThrow();
  return since === null ? null : { count, since };
}

/** A key of the whole organisation holds jobs of each of its repositories. */
const findWaitingKeys = (db: Db, entityId: number, repoId: number | null): Promise<WaitingKey[]> =>
  db
    .selectFrom('demand_keys as d')
    .innerJoin('jobs as j', 'j.demand_key', 'd.demand_key')
    .select(({ fn }) => [
      'd.k8s_pool as pool',
      fn.countAll<number>().as('waiting'),
      'wait_reason as reason',
      'wait_since as since',
      sql<number>`(array_agg(j.job_id order by j.created_at, j.job_id))[1]`.as('jobId'),
    ])
    .where('d.entity_id', '=', entityId)
    .where('wait_reason', 'is not', null)
    .where('wait_since', 'is not', null)
    .where('wants_worker', '=', true)
    .$if(repoId !== null, (query) => query.where('repo_id', '=', repoId))
    .groupBy('d.demand_key')
    .orderBy('wait_since')
    .orderBy('d.k8s_pool')
    .$narrowType<{ reason: NotNull; since: NotNull }>()
    .execute();
