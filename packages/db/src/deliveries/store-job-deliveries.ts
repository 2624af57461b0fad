import {
  type DeliveredStatement,
  foldJobStatements,
} from '@paddock/domain/deliveries/fold-job-statements';
import type { JobResult } from '@paddock/domain/deliveries/job-outcomes';
import type { Outcome } from '@paddock/domain/deliveries/outcomes';
import { REFUSED_ENTITY } from '@paddock/domain/pools/place-job';
import type { ParsedDelivery } from '@paddock/domain/deliveries/parse-delivery';
import { CompiledQuery, type Kysely } from 'kysely';
import {
  appendingEvents,
  EVENT_COLUMNS,
  EVENT_NAMES,
  jsonArray,
  toRow,
} from '../events/installation-events.ts';
import {
  AMONG_GIVEN,
  comparedWith,
  payloadUnlessRepeated,
  SAID_OF_JOB,
  SAME_BODY,
} from './repeated-bodies.ts';
import {
  type InstallationMention,
  mentionsParameter,
  notingInstallations,
} from '../entities/installations.ts';
import { jobParameters, type StoredJob, STORING_JOBS } from '../jobs/jobs.ts';
import { chosenOutcome, possibleOutcomes } from './possible-outcomes.ts';
import type { CurrentPools } from '../pools/pools-documents.ts';
import { decideOn } from '../jobs/stated-columns.ts';
import { preparedText } from '../connection/prepared.ts';
import { asRecord } from '../connection/source-columns.ts';
import type { DeliveryToRecord } from './delivery-to-record.ts';
import type { Database } from '../schema/tables.ts';

/** A delivery that states facts of a job. */
export type JobDelivery = DeliveryToRecord & {
  readonly parsed: Extract<ParsedDelivery, { kind: 'job' }>;
};

export const isJobDelivery = (delivery: DeliveryToRecord): delivery is JobDelivery =>
  delivery.parsed.kind === 'job';

export interface StoredJobDelivery extends StoredJob {
  readonly place: JobResult['place'];
  readonly outcome: Outcome;
}

// The count makes the lock of installations wait for the jobs.
const STORE_JOB_DELIVERIES = preparedText(`with ${STORING_JOBS}, given as materialized (
      select *, ${AMONG_GIVEN} from rows from (json_to_recordset($3::json) as (${asRecord(EVENT_COLUMNS)}, choice integer))
        with ordinality as given(${EVENT_NAMES}, choice, position) ${SAME_BODY}
    ), told as materialized (
      select given.*, before, changed, worker, is_unbound, is_refused, is_misused, leaves_row or is_news as leaves_row,
        case when is_repeated and not is_news then 'repeated_body' else ${chosenOutcome('$5')} end as outcome
      from given join stored using (job_id) ${comparedWith(SAID_OF_JOB)}
        cross join lateral (select changed and nth = 0 as is_news) news
    ), noted as (${notingInstallations('$6', '(select count(*) from told) > 0')}
    ), appended as (${appendingEvents("select 'webhook' as source, * from told where leaves_row order by position", payloadUnlessRepeated('$4'))})
    select job_id as "jobId", before, changed, worker, is_unbound as "isUnbound", is_refused as "isRefused", is_misused as "isMisused", outcome
    from told order by position`);

/**
 * Stores deliveries of jobs, none with two runners for one job: the jobs, the installations that
 * they mention, and the events. One statement is one round trip and one commit. Returns the result
 * of each delivery, in order.
 */
export async function storeJobDeliveries(
  db: Kysely<Database>,
  batch: readonly JobDelivery[],
  pools: CurrentPools,
): Promise<StoredJobDelivery[]> {
  const jobs = foldJobStatements(batch.map(statementOf)).map((facts) =>
    decideOn(pools.document, facts),
  );
  const places = new Map(jobs.map(({ facts, decision }) => [facts.jobId, decision]));
  const placeOf = ({ parsed }: JobDelivery): JobResult['place'] => {
    const place = places.get(parsed.job.jobId);
    if (place === undefined)
      throw new Error(`Job ${parsed.job.jobId} is lost between its deliveries and their folding.`);
    return place;
  };
  const { choices, outcomes } = possibleOutcomes(
    batch.map((delivery) => ({ ...delivery.parsed.job, place: placeOf(delivery) })),
  );
  const events = batch.map((delivery, index) => ({ ...eventOf(delivery), choice: choices[index] }));
  const payloads = batch.map((delivery) =>
    'ignored' in placeOf(delivery) ? (delivery.reduced?.() ?? delivery.payload) : delivery.payload,
  );
  const mentions = mentionsParameter(batch.flatMap(mentionOf));
  const values = [
    ...jobParameters(jobs, pools.version),
    JSON.stringify(events),
    jsonArray(payloads),
    outcomes,
    mentions,
  ];
  const { rows } = await db.executeQuery<Omit<StoredJobDelivery, 'place'>>(
    CompiledQuery.raw(STORE_JOB_DELIVERIES, values),
  );
  if (rows.length !== batch.length)
    throw new Error(`Of ${batch.length} deliveries ${rows.length} were stored.`);
  return batch.flatMap((delivery, index) => {
    const row = rows[index];
    return row === undefined
      ? []
      : [{ ...row, place: row.isRefused ? REFUSED_ENTITY : placeOf(delivery) }];
  });
}

export const statementOf = ({ parsed, appId, guid }: JobDelivery): DeliveredStatement => ({
  ...parsed.job,
  appId,
  deliveryGuid: guid,
});

export function eventOf({ parsed, appId, guid, payloadRepaired, bodyDigest }: JobDelivery) {
  const { event, installationId, entity, repoId, job } = parsed;
  return toRow({
    event,
    appId,
    installationId,
    entity,
    repoId,
    jobId: job.jobId,
    deliveryGuid: guid,
    payloadRepaired,
    bodyDigest,
  });
}

function mentionOf({ parsed, appId }: JobDelivery): InstallationMention[] {
  const { entity, installationId, completedAt, startedAt, queuedAt } = parsed.job;
  return installationId === null
    ? []
    : [{ appId, entity, installationId, statedAt: completedAt ?? startedAt ?? queuedAt }];
}
