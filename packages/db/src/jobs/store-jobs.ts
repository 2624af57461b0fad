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
  lookAtJobs,
  MERGED,
  readJobs,
  type StatedJob,
} from './read-jobs.ts';
import { type Binding, bindingWorkers } from '../workers/failing-keys.ts';
import { retried, sqlStateOf } from '../connection/errors.ts';
import type { DeliveredStatement } from '@paddock/domain/deliveries/workflow-job-event';
import { storableLabels } from '@paddock/domain/text/storable';
import { preparedText } from '../connection/prepared.ts';

/** The columns that a job's first statement sets for ever. */
const LASTING = {
  jobId: ['job_id', 'bigint'],
  repoId: ['repo_id', 'bigint'],
  labels: ['job_labels', 'jsonb'],
  runId: ['run_id', 'bigint'],
  runAttempt: ['run_attempt', 'integer'],
  jobName: ['job_name', 'text'],
  deliveryGuid: ['delivery_guid', 'text'],
} satisfies Columns<string>;

const ALL = { ...LASTING, ...MERGED };

const GIVEN = `given as materialized (
    select * from json_to_recordset($1::json) as given(${each(ALL, (property, _column, type) => `${property} ${type}`)},
      "isInDoubt" boolean, "isHidden" boolean, "wasRevision" integer, "byLogin" text)
  )`;

/** Passes over a row that another transaction has committed meanwhile. */
const inserting = (condition: string): string => `inserted as (
    insert into jobs (${each(ALL, (_property, column) => column)}, lookup_due_at, seen_queued_at)
    select ${each(ALL, (property) => property)}, case when "isInDoubt" then now() end, case when "isInDoubt" then "queuedAt" end
    from given where ${condition} order by "jobId"
    on conflict (job_id) do nothing returning 1
  )`;

// Rows that were read are locked first, and updated last. Another batch may have read before one of
// our known jobs had its row, and insert it: that waits while the row is being updated, but not while
// it is only locked. The arrays keep each look-up one by the index in every plan.
const writing = (binding = ''): string =>
  preparedText(`with ${GIVEN}, locked as materialized (
    select from jobs where job_id = any(array(select "jobId" from given where "wasRevision" is not null))
    order by job_id for no key update
  ), ${inserting('"wasRevision" is null and (select count(*) from locked) >= 0')}, updated as (
    update jobs set ${each(MERGED, (property, column) => `${column} = given.${property}`)},
      lookup_due_at = case when "isInDoubt" then lookup_due_at end,
      seen_queued_at = case when "isInDoubt" then seen_queued_at end,
      hidden_since = case when "isHidden" then hidden_since end
    from given cross join (select count(*) from inserted) new_rows
    where job_id = any(array(select "jobId" from given)) and job_id = "jobId" and revision = "wasRevision"
    returning 1
  ), written as materialized (
    select must_be_whole((select count(*) from inserted) + (select count(*) from updated) = (select count(*) from given))
  )${binding}, appended as (${appendingGiven('$2', '$3')})
  select from written`);
const WRITE = writing();
const WRITE_AND_BIND = writing(`, ${bindingWorkers('$4', 'cross join written')}`);

const GIVEN_COLUMNS = {
  entity_id: '"entityId"',
  app_id: '"appId"',
  installation_id: '"installationId"',
  entity_name: '"entityName"',
  by_login: '"byLogin"',
};
const WRITE_NEW_JOB =
  preparedText(`with ${GIVEN}, ${inserting(isKnownEntity((column) => GIVEN_COLUMNS[column]))},
  written as materialized (select exists (select from inserted) as is_whole),
  appended as (${appendingGiven('$2', '$3', '(select is_whole from written)')})
  select is_whole as "isWhole" from written`);

/** A job's row as merged. */
interface JobToWrite {
  readonly facts: DeliveredStatement;
  readonly row: JobRow;
  /** Of the row that was read; null: there was none. */
  readonly wasRevision: number | null;
}

/**
 * Writes jobs, events and bindings in one statement. Rejects with a serialization failure if a job
 * is not as it was read.
 */
async function write(
  db: Db,
  jobs: Iterable<JobToWrite>,
  events: readonly EventToAppend[],
  bindings: readonly Binding[],
): Promise<void> {
  const given = JSON.stringify(Array.from(jobs, givenOf));
  const values = [given, ...eventParameters(events)];
  await db.executeQuery(
    bindings.length === 0
      ? CompiledQuery.raw(WRITE, values)
      : CompiledQuery.raw(WRITE_AND_BIND, [...values, JSON.stringify(bindings)]),
  );
}

const givenOf = ({ facts, row, wasRevision }: JobToWrite) => ({
  ...row,
  wasRevision,
  jobId: facts.jobId,
  repoId: facts.repoId,
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

/** The events to store with these results. */
type EventsOf = (stored: readonly StoredJob[]) => readonly EventToAppend[];

/** Runs a transaction that stores jobs until no other has changed one of them meanwhile. */
export const untilStored = <T>(store: () => Promise<T>): Promise<T> => retried(store, isOutdated);

const isOutdated = (error: unknown): boolean => sqlStateOf(error) === '40001';

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
    readonly eventsOf?: EventsOf | undefined;
  } = {},
): Promise<StoredJob[]> {
  const { stored, writes } = mergeAll(await readJobs(trx, jobs, mentions), poolsVersion);
  await write(trx, writes.values(), eventsOf(stored), []);
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
 * Stores statements without a transaction around it: what is read is not locked, and all is written
 * only if it is the same by then. Undefined, with nothing written, if it is not, or if there is more
 * to store than jobs, their workers and events: that takes `storeJobs`.
 */
export async function storeJobsAtOnce(
  db: Db,
  jobs: readonly JobToStore[],
  poolsVersion: number,
  eventsOf: EventsOf,
): Promise<readonly StoredJob[] | undefined> {
  const [job] = jobs;
  if (job !== undefined && jobs.length === 1) {
    const added = await storeNewJob(db, job, poolsVersion, eventsOf);
    if (added !== undefined) return added;
  }
  const stated = await lookAtJobs(db, jobs);
  if (stated.length < jobs.length) return undefined;
  const { stored, writes } = mergeAll(stated, poolsVersion);
  if (stored.some(isFound)) return undefined;
  try {
    await write(db, writes.values(), eventsOf(stored), bindingsOf(stored));
    return stored;
  } catch (error) {
    if (isOutdated(error)) return undefined;
    throw error;
  }
}

/** The workers that run jobs, and are bound to none yet. */
export const bindingsOf = (stored: readonly StoredJob[]): Binding[] =>
  stored.flatMap(({ worker, jobId }) => (worker === undefined ? [] : [{ worker, jobId }]));

/** Stores a job that is new and waits, without reading it first: a person waits for it too. */
async function storeNewJob(
  db: Db,
  job: JobToStore,
  poolsVersion: number,
  eventsOf: EventsOf,
): Promise<readonly StoredJob[] | undefined> {
  const { status, installationId, runnerName } = job.facts;
  if (status !== 'pending' || runnerName !== null || installationId === null) return undefined;
  if ('ignored' in job.place) return undefined;
  const { stored, writes } = mergeAll([{ ...job, ...UNKNOWN, installationId }], poolsVersion);
  const given = Array.from(writes.values(), (one) => ({ ...givenOf(one), byLogin: job.byLogin }));
  const values = [JSON.stringify(given), ...eventParameters(eventsOf(stored))];
  const { rows } = await db.executeQuery<{ isWhole: boolean }>(
    CompiledQuery.raw(WRITE_NEW_JOB, values),
  );
  return rows[0]?.isWhole === true ? stored : undefined;
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
