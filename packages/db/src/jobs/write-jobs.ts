import type { DeliveredStatement } from '@paddock/domain/deliveries/workflow-job-event';
import type { JobRow } from '@paddock/domain/jobs/merge-statement';
import { storableLabels } from '@paddock/domain/pools/labels';
import { CompiledQuery, type Kysely } from 'kysely';
import { preparedText } from '../connection/prepared.ts';
import {
  appendingGiven,
  type EventToAppend,
  eventParameters,
} from '../events/installation-events.ts';
import type { Database } from '../schema/tables.ts';
import { type Columns, each, MERGED } from './read-jobs.ts';

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

const WRITE_JOBS = preparedText(`with given as materialized (
    select * from json_to_recordset($1::json) as given(${each(ALL, (property, _column, type) => `${property} ${type}`)},
      "isInDoubt" boolean, revision integer)
  ), updated as (
    update jobs set ${each(MERGED, (property, column) => `${column} = given.${property}`)},
      lookup_due_at = case when "isInDoubt" then lookup_due_at end,
      seen_queued_at = case when "isInDoubt" then seen_queued_at end
    from given where job_id = "jobId" and jobs.revision = given.revision
    returning 1
  ), inserted as (
    insert into jobs (${each(ALL, (_property, column) => column)}, lookup_due_at, seen_queued_at)
    select ${each(ALL, (property) => property)}, case when "isInDoubt" then now() end, case when "isInDoubt" then "queuedAt" end
    from given where revision is null order by "jobId"
    on conflict (job_id) do nothing returning 1
  ), written as materialized (
    select (select count(*) from updated) + (select count(*) from inserted) = (select count(*) from given) as is_whole
  ), appended as (${appendingGiven('$2', '$3', '(select is_whole from written)')})
  select is_whole as "isWhole" from written`);

/** A job's row as merged; its revision when it was read, or null if it is new. */
export interface JobToWrite {
  readonly facts: DeliveredStatement;
  readonly row: JobRow;
  readonly revision: number | null;
}

/**
 * Writes merged rows and events, in one statement. False: a row has changed or appeared since it was
 * read; no event was written, and the transaction has to be rolled back.
 */
export async function writeJobs(
  db: Kysely<Database>,
  jobs: readonly JobToWrite[],
  events: readonly EventToAppend[],
): Promise<boolean> {
  if (jobs.length === 0 && events.length === 0) return true;
  const given = jobs.map(({ facts, row, revision }) => ({
    ...row,
    revision,
    jobId: facts.jobId,
    ...(revision === null ? lastingOf(facts) : {}),
  }));
  const { rows } = await db.executeQuery<{ isWhole: boolean }>(
    CompiledQuery.raw(WRITE_JOBS, [JSON.stringify(given), ...eventParameters(events)]),
  );
  return rows[0]?.isWhole === true;
}

const lastingOf = (facts: DeliveredStatement): Record<keyof typeof LASTING, unknown> => ({
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
