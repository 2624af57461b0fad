import type { KnownJob } from '@paddock/domain/jobs/judge-discovered-job';
import { type Kysely, sql } from 'kysely';
import { isRefused } from '../accounts/refused-accounts.ts';
import type { Database, EntityType } from '../schema/tables.ts';

/** A repository and who may ask GitHub about it now. */
export interface RepositoryToLookAt {
  readonly repoId: number;
  /** As it was last heard of; null if only its id is known. */
  readonly fullName: string | null;
  readonly etags: Readonly<Record<string, string>>;
  readonly entityId: number;
  readonly entityType: EntityType;
  readonly login: string;
  readonly appId: number;
  readonly installationId: number;
}

/** For how much longer than the last time jobs are looked through: a transaction may commit so much later than it began. */
const MARGIN = sql`interval '5 minutes'`;

/**
 * Notes the repositories of jobs that have come since this was last done, at most those of the last `activeMs`. A new one is due
 * `everyMs` after its newest job: until then its deliveries are being heard. Returns how many are news.
 */
export async function noteActiveRepositories(
  db: Kysely<Database>,
  { activeMs, everyMs }: { activeMs: number; everyMs: number },
): Promise<number> {
  const { rows } = await sql`
    insert into repositories as known (repo_id, entity_id, app_id, full_name, active_at, noted_at, due_at)
    select distinct on (repo_id) repo_id, entity_id, app_id, repo_full_name, created_at, now(), created_at + ${everyMs} * interval '1 millisecond'
    from jobs
    where created_at > greatest(now() - ${activeMs} * interval '1 millisecond', (select max(noted_at) from repositories) - ${MARGIN})
    order by repo_id, created_at desc
    on conflict (repo_id) do update set entity_id = excluded.entity_id, app_id = excluded.app_id, full_name = excluded.full_name,
      active_at = excluded.active_at, noted_at = excluded.noted_at where excluded.active_at > known.active_at
    returning repo_id`.execute(db);
  return rows.length;
}

/** Forgets repositories that had no run for a week. */
export async function forgetRestingRepositories(db: Kysely<Database>): Promise<void> {
  await sql`delete from repositories where active_at < now() - interval '7 days'`.execute(db);
}

/** The repositories that are due, longest first; of accounts whose App may be used and was not refused lately, and of the Apps named. */
export async function findDueRepositories(
  db: Kysely<Database>,
  { most, activeMs, appIds, refusedPauseMs }: { most: number; activeMs: number; appIds: readonly number[]; refusedPauseMs: number },
): Promise<RepositoryToLookAt[]> {
  const { rows } = await sql<RepositoryToLookAt>`
    select r.repo_id as "repoId", r.full_name as "fullName", r.etags, ${installationColumns}
    from repositories r cross join lateral (
      select * from installations where entity_id = r.entity_id and deleted_at is null and suspended_at is null and app_id = any(${appIds}::bigint[])
      order by app_id = r.app_id desc, stated_at desc limit 1
    ) i
    where not ${isRefused('r.entity_id', refusedPauseMs)} and r.due_at <= now() and r.active_at > now() - ${activeMs} * interval '1 millisecond'
    order by r.due_at, r.repo_id limit ${most}`.execute(db);
  return rows;
}

const installationColumns = sql`
  i.entity_id as "entityId", i.entity_type as "entityType", i.login, i.app_id as "appId", i.installation_id as "installationId"`;

/** Whom an account's App speaks for. */
export type InstallationToAsk = Omit<RepositoryToLookAt, 'repoId' | 'fullName' | 'etags'>;

/** The installation of the account of this login, without regard to case; undefined if none is known that may be used. */
export async function findInstallationByLogin(
  db: Kysely<Database>,
  login: string,
  appIds: readonly number[],
): Promise<InstallationToAsk | undefined> {
  const { rows } = await sql<InstallationToAsk>`
    select ${installationColumns} from installations i
    where lower(login) = lower(${login}) and deleted_at is null and suspended_at is null and app_id = any(${appIds}::bigint[])
    order by stated_at desc limit 1`.execute(db);
  return rows[0];
}

/** What was found out about a repository by looking at it. */
export interface RepositoryLook {
  readonly repoId: number;
  readonly entityId: number;
  readonly appId: number;
  readonly fullName: string | null;
  /** It has runs that are not over. */
  readonly isActive: boolean;
  readonly etags: Readonly<Record<string, string>>;
}

/** Notes that a repository was looked at; its next turn is `everyMs` away. */
export async function noteRepositoryLook(db: Kysely<Database>, look: RepositoryLook, everyMs: number): Promise<void> {
  const { repoId, entityId, appId, fullName, isActive, etags } = look;
  await sql`
    insert into repositories as known (repo_id, entity_id, app_id, full_name, active_at, due_at, looked_at, etags)
    values (${repoId}, ${entityId}, ${appId}, ${fullName}, now(), now() + ${everyMs} * interval '1 millisecond', now(), ${JSON.stringify(etags)}::jsonb)
    on conflict (repo_id) do update set entity_id = excluded.entity_id, app_id = excluded.app_id, full_name = excluded.full_name,
      active_at = case when ${isActive}::boolean then excluded.active_at else known.active_at end,
      due_at = excluded.due_at, looked_at = excluded.looked_at, etags = excluded.etags`.execute(db);
}

/** GitHub did not tell about a repository: others have their turn first. */
export async function postponeRepository(db: Kysely<Database>, repoId: number, waitMs: number): Promise<void> {
  await sql`update repositories set due_at = now() + ${waitMs} * interval '1 millisecond' where repo_id = ${repoId}`.execute(db);
}

/** What is known of these jobs, by id. */
export async function findKnownJobs(db: Kysely<Database>, jobIds: readonly number[]): Promise<Map<number, KnownJob>> {
  const { rows } = await sql<KnownJob & { jobId: number }>`
    select job_id as "jobId", status, wants_worker as "wantsWorker" from jobs where job_id = any(${jobIds}::bigint[])`.execute(db);
  return new Map(rows.map(({ jobId, ...job }) => [jobId, job]));
}
