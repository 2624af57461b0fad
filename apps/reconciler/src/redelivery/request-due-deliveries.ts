import {
  findDueRedeliveries,
  findProbe,
  hasDueBeside,
  hasWaitingRedeliveries,
  wasAskedFor,
} from '@paddock/db/deliveries/redelivery';
import { wantExtraPasses } from '@paddock/db/schedules/extra-passes';
import { redeliverySchedule } from '@paddock/domain/tasks/schedule-names';
import type { RedeliverOptions } from './redeliver.ts';
import { requestRedeliveries, type Requests } from './request-redeliveries.ts';

/** Until GitHub's log shows the result of a request. */
const LOGGED_AFTER_MS = 5_000;

/**
 * Asks GitHub to repeat the deliveries that are due. If none is due and none was requested in this
 * cycle, requests the newest failed one as a probe: its success shows that our endpoint is back. If
 * others wait for that, wants another pass soon, once in a cycle.
 */
export async function requestDueDeliveries(
  { db, appId, log, events, everySeconds, perMinute, firstStepMs }: RedeliverOptions,
  signal: AbortSignal,
): Promise<Requests & { moreDue: boolean }> {
  // A tenth of the cycle: cycles are not exactly even, and no request may slip into the next one.
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
    await wantExtraPasses(db, { schedule: redeliverySchedule(appId), inMs: LOGGED_AFTER_MS });
  }
  const known = due.map(({ guid }) => guid);
  const moreDue = asked.retryAfterMs === undefined && (await hasDueBeside(db, appId, known));
  return { ...asked, moreDue };
}
