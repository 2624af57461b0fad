import { sql } from 'kysely';
import { prepared } from '../connection/prepared.ts';
import { rowsOf } from '../rows.ts';
import type { Trx } from '../schema/tables.ts';
import type { PassPlan } from '@paddock/domain/matching/plan-pass';
import { RESERVED, RETIRABLE, RETURNABLE } from '../states/states.ts';

export interface MatchingLimits {
  /** Longest wait for earlier passes, and for a locked row, in milliseconds. */
  lockTimeoutMs: number;
  /** Longest run of one statement, in milliseconds. */
  statementTimeoutMs: number;
  /** Longest rest of the transaction between two statements, in milliseconds. */
  idleTimeoutMs: number;
}

/**
 * Makes this transaction the only pass in its environment until it ends. The lock is a separate
 * statement: statements that count demand and supply must see the rows of the pass before, or two
 * passes make two workers for one job.
 */
export async function lockMatching(trx: Trx, limits: MatchingLimits): Promise<void> {
  // All schemas of a database share its advisory locks, hence the schema's oid. The limits are set
  // first: the lock is taken for their row. Starting parallel workers takes longer than counting alone.
  await sql`${prepared} select pg_advisory_xact_lock(oid::int, 1) from pg_namespace, (
      select set_config('lock_timeout', ${String(limits.lockTimeoutMs)}, true),
        set_config('statement_timeout', ${String(limits.statementTimeoutMs)}, true),
        set_config('idle_in_transaction_session_timeout', ${String(limits.idleTimeoutMs)}, true),
        set_config('max_parallel_workers_per_gather', '0', true) offset 0) limits
    where nspname = current_schema()`.execute(trx);
}

/**
 * Locks the workers that a plan names, so that they stay as the plan assumes. Returns the names of
 * those that it could not lock: another transaction is writing them or has changed them since.
 * Never waits.
 */
export async function lockPlanned(
  trx: Trx,
  plan: Pick<PassPlan, 'giveBack' | 'takeBack' | 'warm'>,
): Promise<string[]> {
  const { giveBack, takeBack, warm } = plan;
  const names = [...giveBack, ...takeBack, ...warm.renew];
  if (names.length === 0) return [];
  const rows = await rowsOf<{ podName: string }>(trx)`${prepared}
    select pod_name as "podName" from workers
    where pod_name = any(${names}::text[]) and (
      (pod_name = any(${giveBack}::text[]) and ${RESERVED}) or (pod_name = any(${takeBack}::text[]) and ${RETURNABLE})
      or (pod_name = any(${warm.renew}::text[]) and ${RETIRABLE}))
    order by pod_name for update skip locked`;
  const locked = new Set(rows.map(({ podName }) => podName));
  return names.filter((podName) => !locked.has(podName));
}
