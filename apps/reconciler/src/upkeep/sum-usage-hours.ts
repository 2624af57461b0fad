import { findHoursToSum, retireUsage, sumUsage } from '@paddock/db/people/sum-usage';
import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';

/** A pass with as many busy hours ends well within its task's time. */
const HOURS_AT_ONCE = 200;

/**
 * Sums up what jobs and workers used, hour by hour, each by one statement. After an
 * outage the hours that were missed follow, the newest first.
 */
export async function sumUsageHours(
  { db, keepJobsDays }: { db: Kysely<Database>; keepJobsDays: number },
  signal: AbortSignal,
): Promise<{ hours: number; removed: number; more: boolean }> {
  const hours = await findHoursToSum(db, { keptDays: keepJobsDays, most: HOURS_AT_ONCE });
  let [summed, older] = [0, 0];
  for (const hour of hours) {
    if (signal.aborted) break;
    const unended = await sumUsage(db, hour);
    summed += 1;
    // It is summed up again at each tick, so it asks for no further pass.
    if (unended === 0) older += 1;
  }
  const removed = await retireUsage(db);
  return { hours: summed, removed, more: hours.length === HOURS_AT_ONCE && older > 0 };
}
