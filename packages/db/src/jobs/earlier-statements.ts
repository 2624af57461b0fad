import type { DeliveredStatement } from '@paddock/domain/deliveries/workflow-job-event';
import { parseDelivery } from '@paddock/domain/deliveries/parse-delivery';
import { sql, type Transaction } from 'kysely';
import type { Database } from '../schema/tables.ts';

/**
 * Reads what stored deliveries state of these jobs, whose deliveries were only recorded until now.
 */
export async function findEarlierStatements(
  trx: Transaction<Database>,
  jobIds: readonly number[],
): Promise<DeliveredStatement[]> {
  const { rows } = await sql<{ appId: number; guid: string | null; payload: unknown }>`
    select app_id as "appId", delivery_guid as guid, payload from installation_events
    where job_id = any(${jobIds}::bigint[]) and source = 'webhook' and app_id is not null`.execute(
    trx,
  );
  return rows.flatMap(({ appId, guid, payload }) => {
    const parsed = parseDelivery('workflow_job', payload);
    return parsed.kind === 'job' ? [{ ...parsed.job, appId, deliveryGuid: guid }] : [];
  });
}
