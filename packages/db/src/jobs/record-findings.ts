import type { DeliveredStatement } from '@paddock/domain/deliveries/workflow-job-event';
import type { Transaction } from 'kysely';
import type { CurrentPools } from '../pools/pools-documents.ts';
import type { Database } from '../schema/tables.ts';
import { recordJobs } from './record-jobs.ts';
import type { StoredJob } from './store-jobs.ts';

/** The reconciler's findings about a job, without a delivery. */
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
 * Stores findings as deliveries are stored, binds the workers that run their jobs, and appends an
 * event for each change. Returns the result of each, in order.
 */
export const recordFindings = (
  trx: Transaction<Database>,
  findings: readonly Finding[],
  pools: CurrentPools,
): Promise<StoredJob[]> =>
  recordJobs(
    trx,
    findings.map(({ statement }) => statement),
    pools,
    (stored) =>
      findings.flatMap(({ statement, ...finding }, index) => {
        const result = stored[index];
        return result?.changed === true
          ? [{ ...statement, ...finding, source: 'reconciler', outcome: result.outcome }]
          : [];
      }),
  );
