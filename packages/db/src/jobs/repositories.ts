import type { KnownJob } from '@paddock/domain/jobs/judge-job';
import { sql } from 'kysely';
import { type EntityToAsk, installationToday, isUsable, mayAsk } from '../entities/whom-to-ask.ts';
import { isPinned } from '../entities/installations.ts';
import { rowsOf } from '../rows.ts';
import { askForLookUps, waitSince } from './look-ups.ts';
import type { Db } from '../schema/tables.ts';
import { ago, milliseconds, NOW } from '../milliseconds.ts';

/** A repository and who may ask GitHub about it now. */
export interface RepositoryToList extends EntityToAsk {
  readonly repoId: number;
  /** As it was last heard of; null if only its id is known. */
  readonly fullName: string | null;
  readonly seenBefore: SeenOfRepository;
  /** All its lists of unfinished runs are to be read, also if its newest runs are over. */
  readonly isFullDue: boolean;
}

/**
 * The facts that one listing of a repository's runs leaves for the next; empty before the first.
 */
export interface SeenOfRepository {
  /** The version of the pools document that the jobs were compared with. */
  readonly pools?: number;
  /** The newest runs, where no run was unfinished. */
  readonly newest?: SeenNewest | undefined;
  /** The lists of unfinished runs, by status. */
  readonly lists?: Readonly<Record<string, SeenList>>;
  /** The unfinished runs, in the order of their next turn. */
  readonly runs?: readonly SeenRun[];
}

export interface SeenNewest {
  /** Undefined if the server gives none. */
  readonly etag: string | undefined;
  /** The id of the newest run; 0: there was none. */
  readonly runId: number;
}

export interface SeenList {
  /** Of all its pages; none if a page has none. */
  readonly etags: readonly string[];
  readonly runIds: readonly number[];
}

export interface SeenRun {
  readonly id: number;
  /** Of all pages of its jobs; none if they were not read yet. */
  readonly etags: readonly string[];
  /** How many listings in a row have found no change. */
  readonly unchanged: number;
}

/** When to list a repository's runs, in milliseconds. */
export interface RepositoryIntervals {
  /** The shortest time between two listings. */
  readonly discoverRepositoryEveryMs: number;
  /** How long it counts as active after its last job, run or push; after that it rests. */
  readonly activeMs: number;
}

/** Jobs are read from this much earlier: a transaction may commit that long after its beginning. */
const MARGIN = sql`interval '5 minutes'`;

/** GitHub's have at most 140 characters. An index would refuse a text of thousands, and all beside it. */
const LONGEST_NAME = 500;

const isNamedLater = sql`(excluded.named_at > coalesce(known.named_at, known.active_at))`;

/**
 * Notes the repositories of jobs that have come since the last call, at most of the last
 * `activeMs`. A new one is due `discoverRepositoryEveryMs` after its newest job: until then its
 * deliveries arrive. Its name and owner come from the job that GitHub queued last, so that an old
 * job brings no old name back. Returns how many changed.
 */
export async function noteActiveRepositories(
  db: Db,
  { activeMs, discoverRepositoryEveryMs: everyMs }: RepositoryIntervals,
): Promise<number> {
  const { rows } = await sql`
    insert into repositories as known (repo_id, entity_id, app_id, full_name, active_at, named_at, noted_at, due_at)
    select distinct on (repo_id) repo_id, entity_id, app_id, repo_full_name, newest_at, queued, now(), newest_at + ${milliseconds(everyMs)}
    from (
      select repo_id, entity_id, app_id, repo_full_name, least(created_at, queued_at) as queued,
        max(created_at) over (partition by repo_id) as newest_at from jobs
      where created_at > greatest(now() - ${milliseconds(activeMs)}, (select max(noted_at) from repositories) - ${MARGIN})
        and length(repo_full_name) <= ${LONGEST_NAME}
    ) told
    order by repo_id, queued desc
    on conflict (repo_id) do update set (entity_id, app_id, full_name, named_at) = (
        select excluded.entity_id, excluded.app_id, excluded.full_name, excluded.named_at where ${isNamedLater}
        union all
        select known.entity_id, known.app_id, known.full_name, known.named_at where not ${isNamedLater}),
      active_at = greatest(known.active_at, excluded.active_at), noted_at = excluded.noted_at, due_at = least(known.due_at, excluded.due_at)
      where excluded.active_at > known.active_at or ${isNamedLater}
    returning repo_id`.execute(db);
  return rows.length;
}

/** Forgets repositories without a run for a week whose entity has lost the App. */
export async function forgetRepositories(db: Db): Promise<void> {
  await db
    .deleteFrom('repositories as r')
    .where('active_at', '<', sql<Date>`now() - interval '7 days'`)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('installations as i')
            .whereRef('i.entity_id', '=', 'r.entity_id')
            .where('deleted_at', 'is', null),
        ),
      ),
    )
    .execute();
}

/**
 * The due repositories: of each entity at most so many active ones, and as many resting ones, the
 * least recently read first; entities in turn. Leaves out entities on which none of these Apps may
 * be used, and repositories where GitHub refused us lately.
 */
export async function findDueRepositories(
  db: Db,
  { most, activeMs, appIds }: DueRepositories,
): Promise<DueRepository[]> {
  const since = sql`now() - ${milliseconds(activeMs)}`;
  const of = (isActive: boolean) => sql`
    (select *, ${isActive}::boolean as is_active, row_number() over (order by due_at, repo_id) as turn from repositories
      where entity_id = e.entity_id and due_at <= now() and active_at ${isActive ? sql`>` : sql`<=`} ${since}
      order by due_at, repo_id limit ${most})`;
  return rowsOf<DueRepository>(db)`
    select r.repo_id as "repoId", r.full_name as "fullName", r.etags as "seenBefore", not r.is_active as "isResting",
      coalesce(r.full_at < now() - interval '1 day', r.is_active) as "isFullDue", entity.entity_id as "entityId", entity.entity_type as "entityType", entity.login,
      entity.app_id as "appId", entity.installation_id as "installationId"
    from (select distinct entity_id from installations usable where ${isUsable('usable', appIds)}) e
    cross join lateral (${of(false)} union all ${of(true)}) r ${installationToday('r', appIds, 'app')}
    join installations entity on entity.entity_id = r.entity_id and entity.app_id = i.app_id
    where ${mayAsk('r', 'r.repo_id')}
    order by turn, r.due_at, r.repo_id limit ${MOST_DUE}`;
}

/** More than a pass can read. */
const MOST_DUE = 5_000;

export interface DueRepository extends RepositoryToList {
  /** No job, run or push of the last day. */
  readonly isResting: boolean;
}

export interface DueRepositories extends Pick<RepositoryIntervals, 'activeMs'> {
  readonly most: number;
  /** The Apps that are configured here. */
  readonly appIds: readonly number[];
}

const ENTITY_TO_ASK = [
  'entity_id as entityId',
  'entity_type as entityType',
  'login',
  'app_id as appId',
  'installation_id as installationId',
] as const;

/**
 * An installation by the login of its entity, without regard to case, or by GitHub's id of it;
 * undefined if none of these Apps may be used there.
 */
export const findInstallation = (
  db: Db,
  named: { readonly login: string } | { readonly installationId: number },
  appIds: readonly number[],
): Promise<EntityToAsk | undefined> =>
  db
    .selectFrom('installations as entity')
    .select(ENTITY_TO_ASK)
    .where(
      'login' in named
        ? sql<boolean>`lower(login) = lower(${named.login})`
        : sql<boolean>`installation_id = ${named.installationId}`,
    )
    .where(isUsable('entity', appIds))
    .orderBy(isPinned('entity'), 'desc')
    .orderBy('stated_at', 'desc')
    .limit(1)
    .executeTakeFirst();

/** Has the runs of an entity's active repositories read anew, and first. Returns how many. */
export async function readAnew(db: Db, entityId: number, activeMs: number): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('repositories')
    .set({ due_at: sql`now() - interval '1 day'`, full_at: null, etags: '{}' })
    .where('active_at', '>', ago(activeMs))
    .where('entity_id', '=', entityId)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/** The result of listing a repository's runs. */
export interface RepositoryListing {
  readonly repoId: number;
  readonly entityId: number;
  readonly appId: number;
  readonly fullName: string | null;
  /** It has runs that are not over. */
  readonly isActive: boolean;
  /** All its lists of unfinished runs were read. */
  readonly isFull: boolean;
  readonly seen: SeenOfRepository;
}

/**
 * Stores the result of a listing, and when the next one is due. Repositories that were never read
 * in full have that at different times of the day.
 */
export async function saveRepositoryListing(
  db: Db,
  listing: RepositoryListing,
  { discoverRepositoryEveryMs: everyMs }: RepositoryIntervals,
): Promise<void> {
  const { repoId, entityId, appId, fullName, isActive, isFull, seen } = listing;
  await sql`
    insert into repositories as known (repo_id, entity_id, app_id, full_name, active_at, named_at, due_at, looked_at, full_at, etags)
    values (${repoId}, ${entityId}, ${appId}, ${fullName}, now(), now(), now() + ${milliseconds(everyMs)}, now(),
      now() - case when ${isFull}::boolean then 0 else ${repoId % 1_440} end * interval '1 minute', ${JSON.stringify(seen)}::jsonb)
    on conflict (repo_id) do update set entity_id = excluded.entity_id, app_id = excluded.app_id, full_name = excluded.full_name,
      named_at = case when ${isActive}::boolean or excluded.full_name is distinct from known.full_name then excluded.named_at else known.named_at end,
      active_at = case when ${isActive}::boolean then excluded.active_at else known.active_at end,
      due_at = excluded.due_at, looked_at = excluded.looked_at, full_at = case when ${isFull}::boolean then excluded.full_at else coalesce(known.full_at, excluded.full_at) end, etags = excluded.etags, unanswered_since = null`.execute(
    db,
  );
}

/** Notes that a resync of the repository has ended well. Its listing has made the row. */
export async function noteResynced(db: Db, repoId: number): Promise<void> {
  await db
    .updateTable('repositories')
    .set({ resynced_at: NOW })
    .where('repo_id', '=', repoId)
    .execute();
}

/** GitHub did not answer for a repository: it is due again, twice as late each time. */
export async function postponeRepository(
  db: Db,
  repoId: number,
  { discoverRepositoryEveryMs: everyMs }: RepositoryIntervals,
): Promise<void> {
  const since = sql<Date>`coalesce(unanswered_since, now())`;
  await db
    .updateTable('repositories')
    .set({ due_at: sql`now() + ${waitSince(since, everyMs)}`, unanswered_since: since })
    .where('repo_id', '=', repoId)
    .execute();
}

/**
 * The known facts about these jobs, by id. One that waits as another entity's is not known: its
 * repository has moved to this one.
 */
export async function findKnownJobs(
  db: Db,
  entityId: number,
  jobIds: readonly number[],
): Promise<Map<number, KnownJob>> {
  const rows = await db
    .selectFrom('jobs')
    .select(['job_id as jobId', 'status', 'wants_worker as wantsWorker'])
    .where('job_id', '=', sql<number>`any(${jobIds}::bigint[])`)
    .where(sql<boolean>`(entity_id = ${entityId} or status <> 'pending')`)
    .execute();
  return new Map(rows.map(({ jobId, ...job }) => [jobId, job]));
}

/** An installation whose repositories need listing. */
export interface UnlistedInstallation extends EntityToAsk {
  /** It has changed since its last listing: created, unsuspended, given repositories. */
  readonly hasChanged: boolean;
  /** PostgreSQL's time, as text: a Date would cut the microseconds off. */
  readonly now: string;
}

export interface UnlistedQuery {
  readonly everyMs: number;
  /** The Apps that are configured here. */
  readonly appIds: readonly number[];
  readonly most: number;
  /** Leaves out these, by GitHub's ids as text. */
  readonly except: readonly string[];
}

/**
 * Installations that changed since their repositories were last listed, or were listed too long
 * ago; changed ones first. Leaves out those where GitHub refused us lately.
 */
export function findUnlistedInstallations(
  db: Db,
  { everyMs, appIds, most, except }: UnlistedQuery,
): Promise<UnlistedInstallation[]> {
  const hasChanged = sql<boolean>`(listed_at is null or listed_at < updated_at)`;
  return db
    .selectFrom('installations as i')
    .select(ENTITY_TO_ASK)
    .select([hasChanged.as('hasChanged'), sql<string>`now()::text`.as('now')])
    .where(isUsable('i', appIds))
    .where(sql<boolean>`installation_id::text <> all(${except}::text[])`)
    .where(mayAsk('i', '0'))
    .where(({ or, eb }) => or([hasChanged, eb('listed_at', '<', ago(everyMs))]))
    .orderBy(hasChanged, 'desc')
    .orderBy('listed_at', (by) => by.asc().nullsFirst())
    .orderBy('entity_id')
    .limit(most)
    .execute();
}

/** A repository that an installation shows. */
export interface ListedRepository {
  readonly repoId: number;
  readonly fullName: string;
  /** GitHub's time; null if nothing was ever pushed. */
  readonly pushedAt: string | null;
}

/**
 * Stores the repositories of an installation's listing. One that was pushed to counts as active
 * since then, and a new one is due soon. A resting one that is not listed is forgotten. After a
 * change of the installation, new ones, those pushed to in the last `activeMs` and those that
 * GitHub hid are due at once. Jobs whose repository GitHub hid, and shows again, are due for a
 * look-up: returns how many.
 */
export async function noteListedRepositories(
  db: Db,
  { entityId, appId, hasChanged, now }: UnlistedInstallation,
  repositories: readonly ListedRepository[],
  activeMs: number,
): Promise<number> {
  const isActive = (row: string) =>
    sql`${sql.ref(`${row}.active_at`)} > now() - ${milliseconds(activeMs)}`;
  const isNews = sql`(${hasChanged}::boolean and (${isActive('excluded')} or known.unanswered_since is not null))`;
  await sql`
    with listing as (
      update installations set listed_at = ${now}::timestamptz where entity_id = ${entityId} and app_id = ${appId}
    ), listed as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(repositories)}::jsonb) as listed("repoId" bigint, "fullName" text, "pushedAt" timestamptz)
    ), gone as (
      delete from repositories known where entity_id = ${entityId} and app_id = ${appId} and not ${isActive('known')}
        and repo_id not in (select "repoId" from listed)
    )
    insert into repositories as known (repo_id, entity_id, app_id, full_name, active_at, named_at, due_at)
    select "repoId", ${entityId}, ${appId}, "fullName", coalesce(least("pushedAt", now()), 'epoch'), now(),
      now() - case when ${hasChanged}::boolean then interval '1 day' else '0' end
    from listed order by "repoId"
    on conflict (repo_id) do update set entity_id = excluded.entity_id, app_id = excluded.app_id, full_name = excluded.full_name,
      named_at = excluded.named_at, active_at = greatest(known.active_at, excluded.active_at),
      due_at = case when (${isActive('excluded')} and excluded.active_at > known.active_at) or ${isNews}
        then least(known.due_at, now()) else known.due_at end
      where excluded.active_at > known.active_at or ${isNews}
        or (known.entity_id, known.app_id, known.full_name) is distinct from (excluded.entity_id, excluded.app_id, excluded.full_name)`.execute(
    db,
  );
  const ids = repositories.map(({ repoId }) => repoId);
  const shown = await db
    .selectFrom('jobs')
    .select('job_id')
    .where('entity_id', '=', entityId)
    .where('lookup_due_at', 'is not', null)
    .where('hidden_since', 'is not', null)
    .where('repo_id', '=', sql<number>`any(${ids}::bigint[])`)
    .execute();
  await askForLookUps(
    db,
    shown.map((row) => row.job_id),
  );
  return shown.length;
}
