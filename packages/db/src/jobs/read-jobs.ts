import type { JobRow } from '@paddock/domain/jobs/merge-statement';
import {
  type IgnoredJob,
  type PlacedJob,
  placeJob,
  poolsClosedTo,
  poolsNamingLogin,
} from '@paddock/domain/pools/place-job';
import { CompiledQuery } from 'kysely';
import { asRecord, preparedText } from '../connection/prepared.ts';
import {
  AMONG_GIVEN,
  comparedWith,
  type KnownBody,
  SAID_OF_JOB,
  SAME_BODY,
} from '../events/replays.ts';
import {
  type InstallationMention,
  mentionsParameter,
  notingInstallations,
} from '../entities/installations.ts';
import type { Db, Trx } from '../schema/tables.ts';
import type { DeliveredStatement } from '@paddock/domain/deliveries/workflow-job-event';
import { admittingLogin, type PoolsDocument } from '@paddock/domain/pools/pools-document';

/** A statement about a job, with what a pools document says of the job. */
export interface JobToStore {
  readonly facts: DeliveredStatement;
  /** Without a pool the job is stored only if it has a row or runs on one of our workers. */
  readonly place: PlacedJob | IgnoredJob;
  /** The login that admits its entity, in lower case: it has to be its own (`login_pins`). */
  readonly byLogin: string | undefined;
  /** Pools that do not serve such jobs: a worker of theirs that runs it is misused. */
  readonly closedPools: readonly string[];
  /**
   * Pools that name its entity's login: they do not serve it either if that is another entity's.
   */
  readonly namingPools: readonly string[];
  /** As in DeliveryToRecord; null without a delivery. */
  readonly bodyDigest: string | null;
}

/** What `document` says of a job; its place may be given. */
export function jobToStore(
  document: PoolsDocument,
  facts: DeliveredStatement,
  place: PlacedJob | IgnoredJob = placeJob(document, facts),
  bodyDigest: string | null = null,
): JobToStore {
  const hasRunner = facts.runnerName !== null;
  return {
    facts,
    place,
    byLogin: 'ignored' in place ? undefined : admittingLogin(document, facts.entity, place),
    closedPools: hasRunner ? poolsClosedTo(document, facts) : [],
    namingPools: hasRunner ? poolsNamingLogin(document, facts) : [],
    bodyDigest,
  };
}

/** A statement, with what the tables say about it. */
export interface StatedJob extends JobToStore, Pick<KnownBody, 'isRepeated' | 'leavesRow'> {
  /** The job's row; null if it has none. */
  readonly row: JobRow | null;
  /** Of that row: each update raises it. */
  readonly revision: number | null;
  /** Our worker that runs the job, in the job's scope, and its own place. */
  readonly worker: (PlacedJob & { readonly podName: string }) | null;
  /** That worker is not assigned yet. */
  readonly isUnbound: boolean;
  /** And its pool does not serve such jobs. */
  readonly isMisused: boolean;
  /** The login of the job's entity is pinned to another entity, so that no pool serves it. */
  readonly isRefused: boolean;
  /** 0 if unknown. */
  readonly installationId: number;
}

export type Columns<K extends string> = Readonly<
  Record<K, readonly [column: string, type: string]>
>;

/** The columns that statements change, with their types, by the properties of JobRow. */
export const MERGED: Columns<Exclude<keyof JobRow, 'isInDoubt' | 'isHidden'>> = {
  status: ['status', 'status_enum'],
  wantsWorker: ['wants_worker', 'boolean'],
  pool: ['k8s_pool', 'text'],
  image: ['k8s_image', 'text'],
  scopeRepoId: ['scope_repo_id', 'bigint'],
  poolsVersion: ['pools_version', 'integer'],
  entityId: ['entity_id', 'bigint'],
  entityName: ['entity_name', 'text'],
  entityType: ['entity_type', 'text'],
  repoFullName: ['repo_full_name', 'text'],
  appId: ['app_id', 'bigint'],
  installationId: ['installation_id', 'bigint'],
  conclusion: ['conclusion', 'text'],
  runnerName: ['runner_name', 'text'],
  runnerId: ['runner_id', 'bigint'],
  podName: ['k8s_pod', 'text'],
  workflowName: ['workflow_name', 'text'],
  htmlUrl: ['html_url', 'text'],
  queuedAt: ['queued_at', 'timestamptz'],
  startedAt: ['started_at', 'timestamptz'],
  completedAt: ['completed_at', 'timestamptz'],
  misjudged: ['misjudged', 'boolean'],
};

/** SQL for each of the columns. */
export const each = (
  columns: Columns<string>,
  sqlOf: (property: string, column: string, type: string) => string,
): string =>
  Object.entries(columns)
    .map(([property, [column, type]]) => sqlOf(`"${property}"`, column, type))
    .join(', ');

const STATED = {
  job_id: 'bigint',
  entity_id: 'bigint',
  entity_name: 'text',
  repo_id: 'bigint',
  app_id: 'bigint',
  installation_id: 'bigint',
  runner_name: 'text',
  runner_id: 'bigint',
  by_login: 'text',
  closed_pools: 'text[]',
  naming_pools: 'text[]',
  delivery_guid: 'text',
  body_digest: 'uuid',
};

// Any user may give a runner one of our names, so the runner's id decides where both are known. A
// worker gets its runner's id before its pod is made: without an id and a pod it has no runner.
// Only an adopted worker has a pod and no id, until GitHub was asked about it.
const isItsRunner = `case when runner_id is null then status <> 'pending' or pod_uid is not null else runner_id = coalesce(given.runner_id, runner_id) end`;

/** Pins the logins that admit an entity and have no owner yet. */
const PINNING = `select login, pin_login(login, entity_id) as owner from (
        select distinct on (by_login) by_login as login, entity_id from given
        where by_login is not null and not exists (select from login_pins known where known.login = by_login) order by by_login, job_id
      ) unpinned`;
const PINNING_NOTHING = 'select null::text as login, null::bigint as owner where false';

/**
 * SQL: a statement about a job says nothing new of its installation, and its entity's login is its
 * own. The arguments are its columns.
 */
export const isKnownEntity = (of: (column: KnownBy) => string): string =>
  `exists (select from installations i where i.entity_id = ${of('entity_id')} and i.app_id = ${of('app_id')}
    and i.installation_id = ${of('installation_id')} and i.login = ${of('entity_name')})
  and (${of('by_login')} is null
    or exists (select from login_pins p where p.login = ${of('by_login')} and p.entity_id = ${of('entity_id')}))`;
type KnownBy = 'entity_id' | 'app_id' | 'installation_id' | 'entity_name' | 'by_login';

/** Rows are looked up one by one (`limit 1`): a plan made once must suit tables of any size. */
const reading = ({
  pinning = PINNING,
  noting = '',
  locking = ' for no key update of j',
  where = 'true',
}): string =>
  preparedText(`with given as materialized (
      select *, ${AMONG_GIVEN} from rows from (json_to_recordset($1::json) as (${asRecord(STATED)}))
        with ordinality as given(${Object.keys(STATED).join(', ')}, position) ${SAME_BODY}
    ), pinned as materialized (
      ${pinning}
    ), seen as materialized (
      select position, job_id, is_repeated, leaves_row, pod_name, k8s_pool, k8s_image, scope_repo_id,
        pod_name is not null and assigned_job_id is null as is_unbound,
        assigned_job_id is null and (coalesce(k8s_pool = any(closed_pools), false) or coalesce(k8s_pool = any(naming_pools), false)
          and exists (select from login_pins p where p.login = lower(given.entity_name) and p.entity_id <> given.entity_id)) as is_misused,
        coalesce(given.entity_id <> coalesce(
          (select p.entity_id from login_pins p where p.login = by_login),
          (select p.owner from pinned p where p.login = by_login)), false) as is_refused,
        coalesce(given.installation_id,
          (select i.installation_id from installations i where i.entity_id = given.entity_id and i.app_id = given.app_id), 0) as installation
      from given ${comparedWith(SAID_OF_JOB)} left join lateral (
        select pod_name, assigned_job_id, k8s_pool, k8s_image, scope_repo_id from workers
        where pod_name = given.runner_name and entity_id = given.entity_id and scope_repo_id in (0, given.repo_id)
          and ${isItsRunner}
        limit 1
      ) worker on true
      where ${where}
      order by job_id, position
    )${noting}
    select is_repeated as "isRepeated", leaves_row as "leavesRow", is_unbound as "isUnbound", is_misused as "isMisused",
      is_refused as "isRefused", installation as "installationId", position, known.row, known.revision,
      case when pod_name is not null then json_build_object('podName', pod_name, 'pool', k8s_pool, 'image', k8s_image,
        'scopeRepoId', scope_repo_id) end as worker
    from seen left join lateral (
      select to_json(merged) as row, j.revision from jobs j cross join lateral (
        select ${each(MERGED, (property, column) => `j.${column} as ${property}`)},
          lookup_due_at is not null or seen_queued_at is not null as "isInDoubt", hidden_since is not null as "isHidden"
      ) merged where job_id = seen.job_id limit 1${locking}
    ) known on true`);

const READ = reading({});
// A statement locks its tables before any row. So this one waits for a transaction that holds the
// table of installations before that transaction can wait for a job locked here.
const READ_AND_NOTE = reading({ noting: `, noted as (${notingInstallations('$2')})` });
const LOOK = reading({
  pinning: PINNING_NOTHING,
  locking: '',
  where: isKnownEntity((column) => `given.${column}`),
});

/**
 * Locks the rows of jobs, in order of their ids, and reads what the tables say about statements.
 * Pins the logins that admit an entity for the first time, and learns installations from
 * `mentions`. Returns the statements in their order.
 */
export async function readJobs(
  trx: Trx,
  jobs: readonly JobToStore[],
  mentions: readonly InstallationMention[],
): Promise<StatedJob[]> {
  const given = parameterOf(jobs);
  const rows = await stated(
    trx,
    mentions.length === 0
      ? CompiledQuery.raw(READ, [given])
      : CompiledQuery.raw(READ_AND_NOTE, [given, mentionsParameter(mentions)]),
  );
  return jobs.flatMap((job, index) => {
    const known = rows[index];
    return known === undefined ? [] : [{ ...job, ...known }];
  });
}

/**
 * The same, without locking or writing anything. Leaves out statements from which there is more to
 * learn than their jobs.
 */
export async function lookAtJobs(db: Db, jobs: readonly JobToStore[]): Promise<StatedJob[]> {
  const rows = await stated(db, CompiledQuery.raw(LOOK, [parameterOf(jobs)]));
  return rows.flatMap(({ position, ...known }) => {
    const job = jobs[position - 1];
    return job === undefined ? [] : [{ ...job, ...known }];
  });
}

type Stated = Omit<StatedJob, keyof JobToStore> & { readonly position: number };

/** Rows in the order of their statements. */
async function stated(db: Db, query: CompiledQuery): Promise<Stated[]> {
  const { rows } = await db.executeQuery<Stated>(query);
  rows.sort((a, b) => a.position - b.position);
  return rows.map((known) => Object.assign(known, { row: withUtc(known.row) }));
}

const parameterOf = (jobs: readonly JobToStore[]): string =>
  JSON.stringify(
    jobs.map(({ facts, byLogin, closedPools, namingPools, bodyDigest }) => ({
      job_id: facts.jobId,
      entity_id: facts.entity.id,
      entity_name: facts.entity.login,
      repo_id: facts.repoId,
      app_id: facts.appId,
      installation_id: facts.installationId,
      runner_name: facts.runnerName,
      runner_id: facts.runnerId,
      by_login: byLogin,
      closed_pools: closedPools,
      naming_pools: namingPools,
      delivery_guid: facts.deliveryGuid,
      body_digest: bodyDigest,
    })),
  );

/** PostgreSQL writes instants in the session's time zone. */
const withUtc = (row: StatedJob['row']): StatedJob['row'] =>
  row && {
    ...row,
    queuedAt: inUtc(row.queuedAt),
    startedAt: inUtc(row.startedAt),
    completedAt: inUtc(row.completedAt),
  };

const inUtc = (instant: string | null): string | null => instant && new Date(instant).toISOString();
