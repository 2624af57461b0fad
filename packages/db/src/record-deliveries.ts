import type { DeliveredStatement } from '@paddock/domain/fold-job-statements';
import { type JobResult, jobOutcomes } from '@paddock/domain/job-outcomes';
import type { Outcome } from '@paddock/domain/outcomes';
import type { ParsedDelivery } from '@paddock/domain/parse-delivery';
import { placeJob } from '@paddock/domain/place-job';
import type { JobStatement } from '@paddock/domain/workflow-job-event';
import type { Kysely } from 'kysely';
import { appendEvents, type EventToAppend, findStoredDeliveries } from './installation-events.ts';
import { type InstallationMention, noteInstallations, storeInstallations } from './installations.ts';
import type { CurrentPools } from './pools-documents.ts';
import { recordJobs } from './record-jobs.ts';
import type { Database } from './tables.ts';

/** One verified delivery. */
export interface DeliveryToRecord {
  readonly guid: string;
  /** The App whose secret signed it. */
  readonly appId: number;
  readonly parsed: ParsedDelivery;
  /** The whole body, JSON that JSONB can hold. */
  readonly payload: string;
  readonly payloadRepaired: boolean;
  /** What is stored instead of the body of a job that no pool serves. */
  readonly reduced?: () => string;
}

/**
 * Stores a batch of deliveries, all or none, in one transaction: jobs, the workers bound to them, installations, and one event for each
 * delivery, repeated ones included (A4, A9, B6). Returns the outcomes in the order of the batch.
 */
export async function recordDeliveries(
  db: Kysely<Database>,
  batch: readonly DeliveryToRecord[],
  pools: CurrentPools,
): Promise<readonly Outcome[]> {
  return db.transaction().execute(async (trx) => {
    // Locks are taken in this order by everybody: jobs, workers, installations.
    const results = await recordJobs(trx, batch.flatMap(statementOf), pools);
    const repeated = await findRepeated(batch, (guids) => findStoredDeliveries(trx, guids));
    await storeInstallations(
      trx,
      batch.flatMap(({ parsed, appId }, index) =>
        parsed.kind === 'installation' && repeated[index] !== true ? [{ ...parsed.statement, appId }] : [],
      ),
    );
    await noteInstallations(trx, batch.flatMap(mentionOf));
    const outcomes = outcomesOf(batch, results, repeated, pools);
    await appendEvents(
      trx,
      batch.map((delivery, index) => eventOf(delivery, outcomes[index] ?? 'ok')),
    );
    return outcomes;
  });
}

function statementOf({ parsed, appId, guid }: DeliveryToRecord): DeliveredStatement[] {
  return parsed.kind === 'job' ? [{ ...parsed.job, appId, deliveryGuid: guid }] : [];
}

function mentionOf({ parsed, appId }: DeliveryToRecord): InstallationMention[] {
  switch (parsed.kind) {
    case 'job':
    case 'waiting_job': {
      const { account, installationId, completedAt, startedAt, queuedAt } = parsed.job;
      return installationId === null ? [] : [{ appId, account, installationId, statedAt: completedAt ?? startedAt ?? queuedAt }];
    }
    case 'account_name':
      return [{ appId, ...parsed.name }];
    case 'installation':
    case 'noted':
      return [];
    default:
      return parsed satisfies never;
  }
}

/** For each delivery of the batch: was it stored before, or does it come twice in this batch? Jobs need no look, their rows tell. */
async function findRepeated(
  batch: readonly DeliveryToRecord[],
  findKnown: (guids: readonly string[]) => Promise<Set<string>>,
): Promise<readonly boolean[]> {
  const seen = await findKnown(batch.flatMap(({ parsed, guid }) => (parsed.kind === 'job' ? [] : [guid])));
  return batch.map(({ parsed, guid }) => {
    if (parsed.kind === 'job') return false;
    const isRepeated = seen.has(guid);
    seen.add(guid);
    return isRepeated;
  });
}

function outcomesOf(
  batch: readonly DeliveryToRecord[],
  results: ReadonlyMap<number, JobResult>,
  repeated: readonly boolean[],
  { document }: CurrentPools,
): Outcome[] {
  const jobs = batch.flatMap(({ parsed }) => (parsed.kind === 'job' ? [parsed.job] : []));
  const perJob = new Map<number, Outcome[]>();
  for (const [jobId, arrived] of Map.groupBy(jobs, (job) => job.jobId)) {
    const result = results.get(jobId);
    if (result === undefined) throw new Error(`Job ${jobId} of the batch was not stored.`);
    const statuses = arrived.map((job: JobStatement) => job.status);
    perJob.set(jobId, jobOutcomes(result, statuses));
  }
  return batch.map(({ parsed }, index): Outcome => {
    switch (parsed.kind) {
      case 'job':
        return perJob.get(parsed.job.jobId)?.shift() ?? 'ok';
      case 'waiting_job': {
        const decision = placeJob(document, parsed.job);
        if ('ignored' in decision) return decision.ignored;
        return repeated[index] === true ? 'duplicate_delivery' : 'job_waiting';
      }
      case 'installation':
      case 'account_name':
        return repeated[index] === true ? 'duplicate_delivery' : 'ok';
      case 'noted':
        return repeated[index] === true && parsed.outcome === 'ok' ? 'duplicate_delivery' : parsed.outcome;
      default:
        return parsed satisfies never;
    }
  });
}

const REDUCED: ReadonlySet<Outcome> = new Set<Outcome>(['ignored_no_label', 'ignored_entity', 'ignored_public_repository']);

function eventOf({ parsed, appId, guid, payload, payloadRepaired, reduced }: DeliveryToRecord, outcome: Outcome): EventToAppend {
  const { event, installationId, account, repoId } = parsed;
  return {
    source: 'webhook',
    event,
    outcome,
    appId,
    installationId,
    account,
    repoId,
    jobId: parsed.kind === 'job' || parsed.kind === 'waiting_job' ? parsed.job.jobId : null,
    deliveryGuid: guid,
    payload: reduced !== undefined && REDUCED.has(outcome) ? reduced() : payload,
    payloadRepaired,
  };
}
