import { findDueRedeliveries, findProbe, hasDueBeside, hasWaitingRedeliveries, wasAskedFor } from '@paddock/db/deliveries/redelivery';
import { wantExtraPasses } from '@paddock/db/schedules/extra-passes';
import { redeliverySchedule } from '@paddock/domain/tasks/redelivery-schedule';
import type { RedeliverOptions } from './redeliver.ts';
import { requestRedeliveries, type Requests } from './request-redeliveries.ts';

/** Until the log tells what became of a request. */
const TOLD_AFTER_MS = 5_000;

/**
 * Asks for what is due. Only a success tells that our endpoint is back: where nothing is due and nothing was asked for in this cycle, the
 * newest failed delivery is asked for, to see whether it gets through. While others wait for that success the log is looked at again soon,
 * once in a cycle.
 */
export async function askAgain(
  { db, appId, log, events, everySeconds, perMinute, firstStepMs }: RedeliverOptions,
  signal: AbortSignal,
): Promise<Requests & { moreDue: boolean }> {
  // A tenth of the cycle: cycles do not come at exactly even times, and a request must not fall into the next one for that.
  const earlyMs = everySeconds * 100;
  const isFirstOfCycle = !(await wasAskedFor(db, appId, everySeconds * 1000 - earlyMs));
  const due = await findDueRedeliveries(db, appId, { perMinute, earlyMs });
  const isProbe = isFirstOfCycle && due.length === 0 && perMinute > 0;
  const asked = await requestRedeliveries(
    {
      db,
      appId,
      redeliver: (id) => log.redeliver(id),
      firstStepMs,
      onAccepted: (guid) => events.redelivered(appId, guid),
      onRefused: (guid, failure) => events.redeliveryRefused(appId, guid, failure),
      signal,
    },
    isProbe ? await findProbe(db, appId) : due,
  );
  if (isFirstOfCycle && asked.accepted > 0 && (await hasWaitingRedeliveries(db, appId))) {
    await wantExtraPasses(db, { schedule: redeliverySchedule(appId), inMs: TOLD_AFTER_MS });
  }
  const known = due.map(({ guid }) => guid);
  const moreDue = asked.retryAfterMs === undefined && (await hasDueBeside(db, appId, known));
  return { ...asked, moreDue };
}
