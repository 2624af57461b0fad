import { MOST_PER_PASS } from '@paddock/domain/matching/matching-settings';
import { findSnapshotRivals, planPass } from '@paddock/domain/matching/plan-pass';
import { settingOf, smallestRaise, withLimit, workersAfter } from '@paddock/domain/why/raise-cap';
import type { WaitFacts } from '@paddock/domain/why/wait-facts';
import type { Transaction } from 'kysely';
import { sumUpDemand } from '@paddock/db/matching/demand';
import { readSnapshot } from '@paddock/db/matching/read-snapshot';
import { findMatchingSettings } from '@paddock/db/matching/stored-settings';
import { findJobTimes } from '@paddock/db/matching/uncovered-jobs';
import type { Database } from '@paddock/db/schema/tables';

/**
 * The sentence that says with which limit the job would have a worker now, if `reason` is a cap. It
 * asks the planner of the matcher, with one cap raised. Null: no other limit of this cap alone
 * would do, or the next pass makes the worker anyway.
 */
export async function findChange(
  trx: Transaction<Database>,
  { job, place, caps }: WaitFacts,
  reason: string | null,
): Promise<string | null> {
  const cap = caps.find(({ kind }) => kind === reason);
  const settings = await findMatchingSettings(trx);
  if (cap === undefined || place === null || settings === undefined) return null;
  const snapshot = await readSnapshot(trx, await sumUpDemand(trx), settings);
  const workersWith = async (limit: number): Promise<number> => {
    const changed = { ...snapshot, rules: withLimit(snapshot.rules, cap.kind, job, limit) };
    const jobTimes = await findJobTimes(trx, findSnapshotRivals(changed));
    return workersAfter(changed, planPass({ ...changed, jobTimes }, settings), job.demandKey);
  };
  const lacking = place.position - (await workersWith(cap.limit));
  if (lacking <= 0) return null;
  // A place more makes one worker more at most, and a pass never makes more than this.
  const bounds = { least: lacking, most: Math.max(lacking, MOST_PER_PASS) };
  const raise = await smallestRaise(
    bounds,
    async (more) => (await workersWith(cap.limit + more)) >= place.position,
  );
  if (raise === undefined) return null;
  const setting = settingOf(snapshot.rules, cap, job);
  const others = raise - lacking;
  const first =
    others === 0
      ? ''
      : `; ${others} of the added places ${others === 1 ? 'goes' : 'go'} to other queues first`;
  return `With ${cap.limit + raise} as ${setting}, instead of ${cap.limit}, it would have a worker now${first}.`;
}
