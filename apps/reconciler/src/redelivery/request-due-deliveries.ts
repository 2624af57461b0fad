import {
  type DueRedelivery,
  findDueRedeliveries,
  findProbe,
  hasDueBeside,
  hasWaitingRedeliveries,
  recordRedeliveryRequest,
  wasAskedFor,
} from '@paddock/db/deliveries/redelivery';
import { wantExtraPasses } from '@paddock/db/schedules/extra-passes';
import { redeliverySchedule } from '@paddock/domain/tasks/schedule-names';
import { classifyGitHubError } from '@paddock/github/errors';
import { isOutage } from '../passes/ask-github.ts';
import type { Pass } from '../passes/pass.ts';
import type { RedeliverOptions } from './redeliver.ts';
import { requestSpacingMs } from './request-spacing.ts';

/** A minute's share takes seconds so. GitHub allows 100 concurrent requests. */
const REQUESTS_AT_ONCE = 8;
/** Until GitHub's log shows the result of a request. */
const LOGGED_AFTER_MS = 5_000;

interface Requests {
  readonly accepted: number;
  readonly refused: number;
  /** GitHub asks us to wait this long, in milliseconds. */
  readonly retryAfterMs?: number;
}

/**
 * Asks GitHub to repeat the deliveries that are due. If none is due and none was requested in this
 * cycle, requests the newest failed one as a probe: its success shows that our endpoint is back. If
 * others wait for that, wants another pass soon, once in a cycle.
 */
export async function requestDueDeliveries(
  options: RedeliverOptions,
  pass: Pass,
): Promise<Requests & { moreDue: boolean }> {
  const { db, appId, everySeconds, perMinute } = options;
  // A tenth of the cycle: cycles are not exactly even, and no request may slip into the next one.
  const earlyMs = everySeconds * 100;
  const isFirstOfCycle = !(await wasAskedFor(db, appId, everySeconds * 1000 - earlyMs));
  const due = await findDueRedeliveries(db, appId, { perMinute, earlyMs });
  const isProbe = isFirstOfCycle && due.length === 0 && perMinute > 0;
  const asked = await request(options, isProbe ? await findProbe(db, appId) : due, pass);
  if (isFirstOfCycle && asked.accepted > 0 && (await hasWaitingRedeliveries(db, appId))) {
    await wantExtraPasses(db, { schedule: redeliverySchedule(appId), inMs: LOGGED_AFTER_MS });
  }
  const known = due.map(({ guid }) => guid);
  const moreDue = asked.retryAfterMs === undefined && (await hasDueBeside(db, appId, known));
  return { ...asked, moreDue };
}

/**
 * Requests every due delivery: installations take turns. A failure concerns only its delivery, but
 * once GitHub asks us to wait, the rest stays due.
 */
async function request(
  { db, appId, log, events, firstStepMs }: RedeliverOptions,
  due: readonly DueRedelivery[],
  pass: Pass,
): Promise<Requests> {
  const counts = { accepted: 0, refused: 0 };
  let retryAfterMs: number | undefined;
  const record = ({ guid, requests }: DueRedelivery, deliveryId: string | null): Promise<void> => {
    const waitMs = requestSpacingMs(requests + 1, firstStepMs);
    return recordRedeliveryRequest(db, appId, { guid, deliveryId }, waitMs);
  };
  await pass.walk(due, {
    entityOf: ({ installationId }) => installationId ?? 0,
    atOnce: REQUESTS_AT_ONCE,
    async visit(one, turn) {
      turn.isUnasked = retryAfterMs !== undefined;
      if (turn.isUnasked) return false;
      const failure = await log
        .redeliver(one.deliveryId)
        .then(() => undefined, classifyGitHubError);
      if (failure === undefined) {
        counts.accepted++;
        events.redelivered(appId, one.guid);
        await record(one, one.deliveryId);
        return true;
      }
      retryAfterMs ??= failure.retryAfterMs;
      turn.isUnasked = failure.kind === 'rate_limited' || failure.retryAfterMs !== undefined;
      // GitHub asked an earlier call to wait, and that call logged it.
      if (turn.isUnasked && failure.neverSent === true) return false;
      counts.refused++;
      events.redeliveryRefused(appId, one.guid, failure);
      // GitHub refused this delivery. Any other failure is not about it.
      const isOver = failure.kind === 'invalid' || failure.kind === 'not_found';
      if (isOver) await record(one, one.deliveryId);
      if (!turn.isUnasked && isOutage(failure)) turn.isUnasked = await pass.isAway('github');
      return isOver;
    },
    postpone: (one) => record(one, null),
  });
  return retryAfterMs === undefined ? counts : { ...counts, retryAfterMs };
}
