import {
  type DueRedelivery,
  findDueRedeliveries,
  recordRedeliveryRequest,
} from '@paddock/db/deliveries/redelivery';
import { wantExtraPasses } from '@paddock/db/schedules/schedules';
import { redeliverySchedule } from '@paddock/domain/tasks/sweep-names';
import { classifyGitHubError } from '@paddock/github/errors';
import { isOutage } from '../passes/ask-github.ts';
import type { Pass } from '../passes/pass.ts';
import type { RedeliverOptions } from './redeliver.ts';

/** A minute's share takes seconds so. GitHub allows 100 concurrent requests. */
const REQUESTS_AT_ONCE = 8;
/** Until GitHub's log shows the result of a request. */
const LOGGED_AFTER_MS = 5_000;

export interface Requests {
  readonly accepted: number;
  readonly refused: number;
  /** More deliveries are due than a minute's requests allow. */
  readonly moreDue: boolean;
  /** GitHub asks us to wait this long, in milliseconds. No call is made before. */
  readonly retryAfterMs?: number;
}

/**
 * Asks GitHub to repeat the deliveries that are due, or a probe if none is. If others wait for its
 * success, wants another pass soon, once in a cycle.
 */
export async function requestDueDeliveries(
  options: RedeliverOptions,
  pass: Pass,
): Promise<Requests> {
  const { db, appId, everySeconds, perMinute } = options;
  // A tenth of the cycle: cycles are not exactly even, and no request may slip into the next one.
  const times = { earlyMs: everySeconds * 100, cycleMs: everySeconds * 1000 };
  const { due, moreDue, othersWait } = await findDueRedeliveries(db, appId, {
    perMinute,
    ...times,
  });
  const asked = await request(options, due, pass);
  if (othersWait && asked.accepted > 0)
    await wantExtraPasses(db, { schedule: redeliverySchedule(appId), inMs: LOGGED_AFTER_MS });
  return { ...asked, moreDue: moreDue && asked.retryAfterMs === undefined };
}

/**
 * Requests every due delivery: installations take turns. A failure concerns only its delivery, but
 * once GitHub asks us to wait, the rest stays due.
 */
async function request(
  { db, appId, log, events, firstStepMs }: RedeliverOptions,
  due: readonly DueRedelivery[],
  pass: Pass,
): Promise<Omit<Requests, 'moreDue'>> {
  const counts = { accepted: 0, refused: 0 };
  let retryAfterMs: number | undefined;
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
        await recordRedeliveryRequest(db, appId, one, firstStepMs);
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
      if (isOver) await recordRedeliveryRequest(db, appId, one, firstStepMs);
      if (!turn.isUnasked && isOutage(failure)) turn.isUnasked = await pass.isAway('github');
      return isOver;
    },
    postpone: ({ guid }) =>
      recordRedeliveryRequest(db, appId, { guid, deliveryId: null }, firstStepMs),
  });
  return retryAfterMs === undefined ? counts : { ...counts, retryAfterMs };
}
