import { jobOutcome, type JobRow, mergeStatement } from '@paddock/domain/jobs/merge-statement';
import type { Outcome } from '@paddock/domain/deliveries/outcomes';
import { type IgnoredJob, type PlacedJob, REFUSED_ENTITY } from '@paddock/domain/pools/place-job';
import { CompiledQuery } from 'kysely';
import type { InstallationMention } from '../entities/installations.ts';
import { appendingGiven, eventParameters, type EventToAppend } from '../events/append-events.ts';
import type { Db, Trx } from '../schema/tables.ts';
import {
  type Columns,
  each,
  isKnownEntity,
  type JobToStore,
  lookAtJob,
  MERGED,
  readJobs,
  type StatedJob,
} from './read-jobs.ts';
import { forgottenFailures } from '../workers/failing-keys.ts';
import type { DeliveredStatement } from '@paddock/domain/deliveries/workflow-job-event';
import { storableLabels } from '@paddock/domain/pools/labels';
import { preparedText } from '../connection/prepared.ts';

/** The columns that a job's first statement sets for ever. */
const LASTING = {
  jobId: ['job_id', 'bigint'],
  entityId: ['entity_id', 'bigint'],
  entityName: ['entity_name', 'text'],
  entityType: ['entity_type', 'text'],
  repoId: ['repo_id', 'bigint'],
  repoFullName: ['repo_full_name', 'text'],
  labels: ['job_labels', 'jsonb'],
  runId: ['run_id', 'bigint'],
  runAttempt: ['run_attempt', 'integer'],
  jobName: ['job_name', 'text'],
  deliveryGuid: ['delivery_guid', 'text'],
} satisfies Columns<string>;

const ALL = { ...LASTING, ...MERGED };

const GIVEN = `given as materialized (
    select * from json_to_recordset($1::json) as given(${each(ALL, (property, _column, type) => `${property} ${type}`)},
      "isInDoubt" boolean, "isHidden" boolean, "isNew" boolean, "byLogin" text, "wasRevision" integer, worker text)
  )`;

/** Passes over a row that another transaction has committed meanwhile. */
const inserting = (condition: string): string => `inserted as (
    insert into jobs (${each(ALL, (_property, column) => column)}, lookup_due_at, seen_queued_at)
    select ${each(ALL, (property) => property)}, case when "isInDoubt" then now() end, case when "isInDoubt" then "queuedAt" end
    from given where ${condition} order by "jobId"
    on conflict (job_id) do nothing returning 1
  )`;

/** Ends a statement: events are appended only if `isWhole`, on which `further` may depend. */
const appendingIfWhole = (
  isWhole: string,
  further = '',
): string => `written as materialized (select ${isWhole} as is_whole),
  ${further} appended as (${appendingGiven('$2', '$3', '(select is_whole from written)')})
  select is_whole as "isWhole" from written`;

// New rows come first, and updates wait for them. Another batch may have read before one of our
// known jobs had its row, and insert it: that waits while the row is being updated, but not while it
// is only locked.
const updating = (condition: string): string => `updated as (
    update jobs set ${each(MERGED, (property, column) => `${column} = given.${property}`)},
      lookup_due_at = case when "isInDoubt" then lookup_due_at end,
      seen_queued_at = case when "isInDoubt" then seen_queued_at end,
      hidden_since = case when "isHidden" then hidden_since end
    from given cross join (select count(*) from inserted) new_rows
    where job_id = any(array(select "jobId" from given)) and job_id = "jobId" and ${condition}
    returning 1
  )`;
const IS_WHOLE =
  '(select count(*) from inserted) + (select count(*) from updated) = (select count(*) from given)';

const WRITE_JOBS = preparedText(
  `with ${GIVEN}, ${inserting('"isNew"')}, ${updating('not "isNew"')}, ${appendingIfWhole(IS_WHOLE)}`,
);

/** The row is written if it is the one that was read. */
const WRITE_JOB =
  preparedText(`with ${GIVEN}, ${inserting('"isNew"')}, ${updating('revision = "wasRevision"')},
  ${appendingIfWhole(
    IS_WHOLE,
    `bound as (
      update workers set assigned_job_id = "jobId", assigned_at = coalesce(assigned_at, now()), unexplained_until = null
      from given cross join written where is_whole and pod_name = (select worker from given) and assigned_job_id is null
      returning demand_key
    ), ${forgottenFailures},`,
  )}`);

const NAMES = {
  entity_id: '"entityId"',
  app_id: '"appId"',
  installation_id: '"installationId"',
  entity_name: '"entityName"',
  by_login: '"byLogin"',
};
const WRITE_NEW_JOB = preparedText(
  `with ${GIVEN}, ${inserting(isKnownEntity((column) => NAMES[column]))}, ${appendingIfWhole('exists (select from inserted)')}`,
);

/** A job's row as merged. */
interface JobToWrite {
  readonly facts: DeliveredStatement;
  readonly row: JobRow;
  /** It had no row. */
  readonly isNew: boolean;
  readonly wasRevision: number | null;
}

/** Writes jobs and events in one statement. False: nothing is written that may be kept. */
async function write(
  db: Db,
  statement: string,
  jobs: Iterable<object>,
  events: readonly EventToAppend[],
): Promise<boolean> {
  const values = [JSON.stringify([...jobs]), ...eventParameters(events)];
  const { rows } = await db.executeQuery<{ isWhole: boolean }>(
    CompiledQuery.raw(statement, values),
  );
  return rows[0]?.isWhole === true;
}

const givenOf = ({ facts, row, isNew, wasRevision }: JobToWrite) => ({
  ...row,
  isNew,
  wasRevision,
  jobId: facts.jobId,
  entityId: facts.entity.id,
  entityName: facts.entity.login,
  entityType: facts.entity.type,
  repoId: facts.repoId,
  repoFullName: facts.repoFullName,
  labels: storableLabels(facts.labels),
  runId: facts.runId,
  runAttempt: facts.runAttempt,
  jobName: facts.jobName,
  deliveryGuid: facts.deliveryGuid,
});

/** The result of one statement, as if it had been stored alone. */
export interface StoredJob {
  readonly jobId: number;
  /** The status before; undefined without a row. */
  readonly before: JobRow['status'] | undefined;
  readonly changed: boolean;
  readonly outcome: Outcome;
  readonly place: PlacedJob | IgnoredJob;
  /** Our worker that runs the job; undefined also if it is assigned already. */
  readonly worker: string | undefined;
  /** The pool of that worker does not serve the job. */
  readonly isMisused: boolean;
  /** Its event is to be stored: the body has not left enough of them, or says something new. */
  readonly leavesRow: boolean;
}

/** A new job got a row between reading and writing. */
class JobAppeared extends Error {
  override readonly name = 'JobAppeared';
}

/** Runs a transaction that stores jobs until no other has committed one of the new ones. */
export async function untilStored<T>(store: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await store();
    } catch (error) {
      if (!(error instanceof JobAppeared)) throw error;
    }
  }
}

/**
 * Merges statements into the rows of their jobs: reads and locks the rows, merges, and writes them
 * with the events of `eventsOf`. Returns the result of each statement, in order. Call it within
 * `untilStored`.
 *
 * All transactions lock in one order: the table of installations, pinned logins, known jobs by id,
 * installations, new jobs by id, workers. A known job is updated after the new ones are inserted.
 */
export async function storeJobs(
  trx: Trx,
  jobs: readonly JobToStore[],
  poolsVersion: number,
  {
    mentions = [],
    eventsOf = () => [],
  }: {
    readonly mentions?: readonly InstallationMention[];
    readonly eventsOf?: ((stored: readonly StoredJob[]) => readonly EventToAppend[]) | undefined;
  } = {},
): Promise<StoredJob[]> {
  const { stored, writes } = mergeAll(await readJobs(trx, jobs, mentions), poolsVersion);
  const isWhole = await write(trx, WRITE_JOBS, writes.values().map(givenOf), eventsOf(stored));
  if (!isWhole) throw new JobAppeared('A new job has a row by now.');
  return stored;
}

/** Merges statements, one after the other. Returns their results, in order, and the changed rows. */
function mergeAll(stated: readonly StatedJob[], poolsVersion: number) {
  const writes = new Map<number, JobToWrite>();
  const workers = new Set<string>();
  const now = Date.now();
  const stored = stated.map((job): StoredJob => {
    const { facts, isRefused, isUnbound } = job;
    const { jobId } = facts;
    const place = isRefused ? REFUSED_ENTITY : job.place;
    const before = writes.get(jobId)?.row ?? job.row ?? undefined;
    const after = mergeStatement(
      before,
      { ...job, place: 'ignored' in place ? undefined : place, poolsVersion },
      now,
    );
    const changed = after !== undefined && after !== before;
    if (changed)
      writes.set(jobId, {
        facts: writes.get(jobId)?.facts ?? facts,
        row: after,
        isNew: job.row === null,
        wasRevision: job.revision,
      });
    const name = isUnbound ? job.worker?.podName : undefined;
    const worker = name === undefined || workers.has(name) ? undefined : name;
    if (worker !== undefined) workers.add(worker);
    const isMisused = changed && worker !== undefined && job.isMisused;
    const outcome =
      job.isRepeated && !changed
        ? 'repeated_body'
        : jobOutcome({ before, after, place, isMisused });
    const leavesRow = job.leavesRow || changed;
    return { jobId, before: before?.status, changed, outcome, place, worker, isMisused, leavesRow };
  });
  return { stored, writes };
}

/** No pool serves the new job, which ran on our worker. Its earlier deliveries had no row. */
export const isFound = ({ before, changed, place }: StoredJob): boolean =>
  before === undefined && changed && 'ignored' in place;

/**
 * Stores a statement that comes alone, as most do, without a transaction around it: what is read is
 * not locked, and written only if it is the same by then. Undefined, with nothing written, if it is
 * not, or if there is more to store than the job, its worker and the event: that takes the long way.
 */
export async function storeJobAlone(
  db: Db,
  job: JobToStore,
  poolsVersion: number,
  eventsOf: (stored: readonly StoredJob[]) => readonly EventToAppend[],
): Promise<StoredJob | undefined> {
  const added = await storeNewJob(db, job, poolsVersion, eventsOf);
  if (added !== undefined) return added;
  const stated = await lookAtJob(db, job);
  if (stated === undefined) return undefined;
  const { stored, writes } = mergeAll([stated], poolsVersion);
  const [result] = stored;
  if (result === undefined || isFound(result)) return undefined;
  const { worker, changed } = result;
  if (worker !== undefined && !changed) return undefined;
  const given = writes.values().map((one) => ({ ...givenOf(one), worker }));
  return (await write(db, WRITE_JOB, given, eventsOf(stored))) ? result : undefined;
}

/** Stores the job without reading it first if it is new and waits: a person waits for it too. */
async function storeNewJob(
  db: Db,
  job: JobToStore,
  poolsVersion: number,
  eventsOf: (stored: readonly StoredJob[]) => readonly EventToAppend[],
): Promise<StoredJob | undefined> {
  const { status, installationId, runnerName } = job.facts;
  if (status !== 'pending' || runnerName !== null || installationId === null) return undefined;
  if ('ignored' in job.place) return undefined;
  const { stored, writes } = mergeAll([{ ...job, ...UNKNOWN, installationId }], poolsVersion);
  const given = writes.values().map((one) => ({ ...givenOf(one), byLogin: job.byLogin }));
  return (await write(db, WRITE_NEW_JOB, given, eventsOf(stored))) ? stored[0] : undefined;
}

/** Of a job without a row and a runner. */
const UNKNOWN = {
  isRepeated: false,
  leavesRow: true,
  row: null,
  revision: null,
  worker: null,
  isUnbound: false,
  isMisused: false,
  isRefused: false,
} as const;
