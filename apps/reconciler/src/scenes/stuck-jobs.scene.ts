import type { DoubtRules } from '@paddock/db/jobs/jobs-in-doubt';
import type { Database } from '@paddock/db/schema/tables';
import { valuesOf } from '@paddock/runtime/rules';
import type { Kysely } from 'kysely';
import {
  LOOK_UPS_OF_A_PASS,
  LOOK_UPS_PER_KEY,
  QUEUED_AT_MOST_MS,
  RECOVERY_LIMIT,
  SILENCE_MS,
} from '../jobs/job-sweeps.ts';
import { reconcilerRules } from '../rules.ts';

const rules = valuesOf(reconcilerRules);

export const RULES: DoubtRules = {
  stuckAfterMs: rules.stuckAfterMs,
  firstLookMs: rules.heldLookUpFirstMs,
  longestLookMs: rules.heldLookUpLongestMs,
  limit: RECOVERY_LIMIT,
  silenceMs: SILENCE_MS,
  queuedAtMostMs: QUEUED_AT_MOST_MS,
  perKey: LOOK_UPS_PER_KEY,
  batch: LOOK_UPS_OF_A_PASS,
};

/** The row of demand_keys for the key of a job. */
export async function putReason(
  db: Kysely<Database>,
  jobId: number,
  waitReason: string,
): Promise<void> {
  const job = await db
    .selectFrom('jobs')
    .selectAll()
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow();
  const { demand_key, entity_id, entity_name, scope_repo_id, k8s_pool } = job;
  const counted = { waiting: 1, unassigned: 0, wait_reason: waitReason, wait_since: new Date() };
  await db
    .insertInto('demand_keys')
    .values({ demand_key, entity_id, entity_name, scope_repo_id, k8s_pool, ...counted })
    .execute();
}
