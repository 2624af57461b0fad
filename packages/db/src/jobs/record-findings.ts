import type { DeliveredStatement } from '@paddock/domain/deliveries/fold-job-statements';
import { jobOutcomes, type JobResult } from '@paddock/domain/deliveries/job-outcomes';
import type { Transaction } from 'kysely';
import { appendEvents } from '../events/installation-events.ts';
import type { CurrentPools } from '../pools/pools-documents.ts';
import { recordJobs } from './record-jobs.ts';
import type { Database } from '../schema/tables.ts';

/** What the reconciler learned of a job without a delivery. */
export interface Finding {
  /** The event that is appended if it was news. */
  readonly event: string;
  readonly statement: DeliveredStatement;
  /** JSON text. */
  readonly payload: string;
  /** Characters that cannot be stored were replaced in it. */
  readonly payloadRepaired: boolean;
}

/**
 * Stores findings with the statement that also stores deliveries' jobs, binds the workers that run
 * them, and appends an event for each change. At most one finding per job. Returns the result of
 * each job, by its id.
 */
export async function recordFindings(
  trx: Transaction<Database>,
  findings: readonly Finding[],
  pools: CurrentPools,
): Promise<Map<number, JobResult>> {
  const results = await recordJobs(
    trx,
    findings.map(({ statement }) => statement),
    pools,
  );
  await appendEvents(
    trx,
    findings.flatMap(({ event, statement, payload, payloadRepaired }) => {
      const { jobId, status, appId, installationId, entity, repoId, deliveryGuid } = statement;
      const result = results.get(jobId);
      if (result?.changed !== true) return [];
      return {
        source: 'reconciler' as const,
        event,
        outcome: jobOutcomes(result, [status])[0] ?? 'job_already_exists',
        appId,
        installationId,
        entity,
        repoId,
        jobId,
        deliveryGuid,
        payload,
        payloadRepaired,
      };
    }),
  );
  return results;
}
