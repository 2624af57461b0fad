import type { KnownJob } from '@paddock/domain/jobs/judge-discovered-job';
import { type Kysely, sql } from 'kysely';
import { type EntityToAsk, installationToday, isUsable } from '../entities/installation-today.ts';
import { isPinned } from '../entities/login-pins.ts';
import { mayCall } from '../entities/told.ts';
import { waitSince } from './note-look-ups.ts';
import type { Database } from '../schema/tables.ts';
import { milliseconds } from '../milliseconds.ts';

/** A repository and who may ask GitHub about it now. */
export interface RepositoryToList extends EntityToAsk {
  readonly repoId: number;
  /** As it was last heard of; null if only its id is known. */
  readonly fullName: string | null;
  readonly seenBefore: SeenOfRepository;
  /** All its lists of unfinished runs are to be read, whatever its newest runs are. */
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
  readonly everyMs: number;
  /** How long it counts as active after its last job, run or push; after that it rests. */
  readonly activeMs: number;
}

/**
 * How much further back than the last time jobs are read: a transaction may commit this much later
 * than it began.
 */
const MARGIN = sql`interval '5 minutes'`;

const isNamedLater = sql`(excluded.named_at > coalesce(known.named_at, known.active_at))`;

/**
 * Notes the repositories of jobs that have come since the last call, at most of the last
 * `activeMs`. A new one is due `everyMs` after its newest job: until then its deliveries arrive.
 * Its name and owner come from the job that GitHub queued last, so that an old job brings no old
 * name back. Returns how many changed.
 */
export async function noteActiveRepositories(
  db: Kysely<Database>,
  { activeMs, everyMs }: RepositoryIntervals,
): Promise<number> {
  const { rows } = await sql`
    insert into repositories as known (repo_id, entity_id, app_id, full_name, active_at, named_at, noted_at, due_at)
    select distinct on (repo_id) repo_id, entity_id, app_id, repo_full_name, newest_at, queued, now(), newest_at + ${milliseconds(everyMs)}
    from (
      select repo_id, entity_id, app_id, repo_full_name, least(created_at, queued_at) as queued,
        max(created_at) over (partition by repo_id) as newest_at from jobs
      where created_at > greatest(now() - ${milliseconds(activeMs)}, (select max(noted_at) from repositories) - ${MARGIN})
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

/**
 * Forgets repositories without a run for a week whose entity has lost the App: its listings no
 * longer name them.
 */
export async function forgetRepositories(db: Kysely<Database>): Promise<void> {
  await sql`
    delete from repositories r where active_at < now() - interval '7 days'
      and not exists (select from installations i where i.entity_id = r.entity_id and i.deleted_at is null)`.execute(
    db,
  );
}

/**
 * The due repositories: of each entity at most so many active ones, and as many resting ones, the
 * least recently read first; entities in turn. Leaves out entities on which none of these Apps may
 * be used, and repositories where GitHub refused us lately.
 */
export async function findDueRepositories(
  db: Kysely<Database>,
  { most, activeMs, appIds }: DueRepositories,
): Promise<DueRepository[]> {
  const since = sql`now() - ${milliseconds(activeMs)}`;
  const of = (isActive: boolean) => sql`
    (select *, ${isActive}::boolean as is_active, row_number() over (order by due_at, repo_id) as turn from repositories
      where entity_id = e.entity_id and due_at <= now() and active_at ${isActive ? sql`>` : sql`<=`} ${since}
      order by due_at, repo_id limit ${most})`;
  const { rows } = await sql<DueRepository>`
    select r.repo_id as "repoId", r.full_name as "fullName", r.etags as "seenBefore", not r.is_active as "isResting",
      coalesce(r.full_at < now() - interval '1 day', r.is_active) as "isFullDue", ${installationColumns}
    from (select distinct entity_id from installations usable where ${isUsable('usable', appIds)}) e
    cross join lateral (${of(false)} union all ${of(true)}) r ${installationToday('r', appIds, 'app')}
    join installations entity on entity.entity_id = r.entity_id and entity.app_id = i.app_id
    where ${mayCall({ appId: 'i.app_id', entityId: 'r.entity_id', repoId: 'r.repo_id' })}
    order by turn, r.due_at, r.repo_id limit ${MOST_DUE}`.execute(db);
  return rows;
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

const installationColumns = sql`
  entity.entity_id as "entityId", entity.entity_type as "entityType", entity.login, entity.app_id as "appId",
  entity.installation_id as "installationId"`;

/**
 * An installation by the login of its entity, without regard to case, or by GitHub's id of it;
 * undefined if none of these Apps may be used there.
 */
export async function findInstallation(
  db: Kysely<Database>,
  named: { readonly login: string } | { readonly installationId: number },
  appIds: readonly number[],
): Promise<EntityToAsk | undefined> {
  const isMeant =
    'login' in named
      ? sql`lower(login) = lower(${named.login})`
      : sql`installation_id = ${named.installationId}`;
  const { rows } = await sql<EntityToAsk>`
    select ${installationColumns} from installations entity
    where ${isMeant} and ${isUsable('entity', appIds)}
    order by ${isPinned('entity')} desc, stated_at desc limit 1`.execute(db);
  return rows[0];
}

/**
 * Has all runs of an entity's repositories read anew and first, where something happened in the last
 * `activeMs`. Returns how many.
 */
export async function readAnew(
  db: Kysely<Database>,
  entityId: number,
  activeMs: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    update repositories set due_at = now() - interval '1 day', full_at = null, etags = '{}'
    where active_at > now() - ${milliseconds(activeMs)} and entity_id = ${entityId}`.execute(db);
  return Number(numAffectedRows);
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
  db: Kysely<Database>,
  listing: RepositoryListing,
  { everyMs }: RepositoryIntervals,
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
export async function noteResynced(db: Kysely<Database>, repoId: number): Promise<void> {
  await sql`update repositories set resynced_at = now() where repo_id = ${repoId}`.execute(db);
}

/** GitHub did not answer for a repository: it is due again, twice as late each time. */
export async function postponeRepository(
  db: Kysely<Database>,
  repoId: number,
  { everyMs }: RepositoryIntervals,
): Promise<void> {
  const since = sql`coalesce(unanswered_since, now())`;
  await sql`
    update repositories set due_at = now() + ${waitSince(since, everyMs)}, unanswered_since = ${since} where repo_id = ${repoId}`.execute(
    db,
  );
}

/** The known facts about these jobs, by id. */
export async function findKnownJobs(
  db: Kysely<Database>,
  jobIds: readonly number[],
): Promise<Map<number, KnownJob>> {
  const { rows } = await sql<KnownJob & { jobId: number }>`
    select job_id as "jobId", status, wants_worker as "wantsWorker" from jobs where job_id = any(${jobIds}::bigint[])`.execute(
    db,
  );
  return new Map(rows.map(({ jobId, ...job }) => [jobId, job]));
}
