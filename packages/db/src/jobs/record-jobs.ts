import { parseDelivery } from '@paddock/domain/deliveries/parse-delivery';
import type { DeliveredStatement } from '@paddock/domain/deliveries/workflow-job-event';
import type { CurrentPools } from '../pools/pools-documents.ts';
import { rowsOf } from '../rows.ts';
import type { Trx } from '../schema/tables.ts';
import { bindWorkers } from '../workers/failing-keys.ts';
import { jobToStore } from './read-jobs.ts';
import { bindingsOf, isFound, type StoredJob, storeJobs } from './store-jobs.ts';

/** Binds the workers that run jobs which were just stored. */
export async function bindRunners(
  trx: Trx,
  stored: readonly StoredJob[],
  pools: CurrentPools,
): Promise<void> {
  const found = stored.filter(isFound).map(({ jobId }) => jobId);
  const earlier =
    found.length === 0
      ? []
      : await storeJobs(
          trx,
          (await findEarlierStatements(trx, found)).map((facts) =>
            jobToStore(pools.document, facts),
          ),
          pools.version,
        );
  await bindWorkers(trx, bindingsOf([...stored, ...earlier]));
}

/**
 * Reads what stored deliveries state of these jobs, whose deliveries were only recorded until now.
 */
async function findEarlierStatements(
  trx: Trx,
  jobIds: readonly number[],
): Promise<DeliveredStatement[]> {
  const rows = await rowsOf<{ appId: number; guid: string | null; payload: unknown }>(trx)`
    select app_id as "appId", delivery_guid as guid, payload from installation_events
    where job_id = any(${jobIds}::bigint[]) and source = 'webhook' and app_id is not null`;
  return rows.flatMap(({ appId, guid, payload }) => {
    const parsed = parseDelivery('workflow_job', payload);
    return parsed.kind === 'job' ? [{ ...parsed.job, appId, deliveryGuid: guid }] : [];
  });
}

/** The reconciler's findings about a job, without a delivery. */
export interface Finding {
  /** The event that is appended if it was news. */
  readonly event: string;
  readonly statement: DeliveredStatement;
  /** JSON text. */
  readonly payload: string;
  /** Characters that cannot be stored were replaced in it. */
  readonly payloadRepaired?: boolean;
}

/**
 * Stores findings as deliveries are stored, binds the workers that run their jobs, and appends an
 * event for each change. Returns the result of each, in order.
 */
export async function recordFindings(
  trx: Trx,
  findings: readonly Finding[],
  pools: CurrentPools,
): Promise<StoredJob[]> {
  const jobs = findings.map(({ statement }) => jobToStore(pools.document, statement));
  const stored = await storeJobs(trx, jobs, pools.version, {
    eventsOf: (results) =>
      findings.flatMap(({ statement, ...finding }, index) => {
        const result = results[index];
        return result?.changed === true
          ? [{ ...statement, ...finding, source: 'reconciler', outcome: result.outcome }]
          : [];
      }),
  });
  await bindRunners(trx, stored, pools);
  return stored;
}
