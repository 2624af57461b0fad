import type { PassPlan } from '@paddock/domain/matching/plan-pass';
import { sql, type Transaction } from 'kysely';
import { prepared } from '../connection/prepared.ts';
import type { Database } from '../schema/tables.ts';
import { RESERVED, RETIRABLE, RETURNABLE } from '../states/worker-states.ts';

/**
 * Locks the workers that a plan names, so that they stay as the plan assumes. Returns the names of
 * those that it could not lock: another transaction is writing them or has changed them since.
 * Never waits.
 */
export async function lockPlanned(
  trx: Transaction<Database>,
  plan: Pick<PassPlan, 'giveBack' | 'takeBack' | 'warm'>,
): Promise<string[]> {
  const { giveBack, takeBack, warm } = plan;
  const names = [...giveBack, ...takeBack, ...warm.renew];
  if (names.length === 0) return [];
  const { rows } = await sql<{ podName: string }>`${prepared}
    select pod_name as "podName" from workers
    where pod_name = any(${names}::text[]) and (
      (pod_name = any(${giveBack}::text[]) and ${RESERVED}) or (pod_name = any(${takeBack}::text[]) and ${RETURNABLE})
      or (pod_name = any(${warm.renew}::text[]) and ${RETIRABLE}))
    order by pod_name for update skip locked`.execute(trx);
  const locked = new Set(rows.map(({ podName }) => podName));
  return names.filter((podName) => !locked.has(podName));
}
