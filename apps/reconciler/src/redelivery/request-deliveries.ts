import {
  type DueRedelivery,
  findDueRedeliveries,
  recordRedeliveryRequest,
} from '@paddock/db/deliveries/redelivery';
import { wantExtraPasses } from '@paddock/db/schedules/schedules';
import { redeliverySchedule } from '@paddock/domain/tasks/sweep-names';
import type { RateBudget } from '@paddock/github/budget';
import type { AppClient } from '@paddock/github/connect';
import { classifyGitHubError, isUnanswered } from '@paddock/github/errors';
import type { Pass } from '../passes/pass.ts';
import type { SweepContext } from '../sweep.ts';
import { bringingOf } from './bring-delivery.ts';

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
  context: SweepContext,
  app: AppClient,
  pass: Pass,
): Promise<Requests> {
  const { db, config, github, takesFromLog } = context;
  const { appId } = app;
  const perMinute = takesFromLog()
    ? Math.min(config.logReadsPerMinute, spendable(github.budgetOf(`app ${appId}`)))
    : config.redeliveryRequestsPerMinute;
  // A tenth of the cycle: cycles are not exactly even, and no request may slip into the next one.
  const { due, moreDue, othersWait } = await findDueRedeliveries(db, appId, {
    perMinute,
    earlyMs: config.redeliveryEverySeconds * 100,
    cycleMs: config.redeliveryEverySeconds * 1000,
  });
  const asked = await request(context, app, due, pass);
  if (othersWait && asked.accepted > 0)
    await wantExtraPasses(db, { schedule: redeliverySchedule(appId), inMs: LOGGED_AFTER_MS });
  return { ...asked, moreDue: moreDue && asked.retryAfterMs === undefined };
}

/** A tenth of an App's calls is for its list of deliveries, and for the tokens of installations. */
const spendable = (budget: RateBudget | undefined): number =>
  budget === undefined || budget.resetAt < Date.now()
    ? Infinity
    : Math.max(0, budget.remaining - Math.ceil(budget.limit / 10));

/**
 * Brings every due delivery: installations take turns. A failure concerns only its delivery, but
 * once GitHub asks us to wait, the rest stays due.
 */
async function request(
  context: SweepContext,
  app: AppClient,
  due: readonly DueRedelivery[],
  pass: Pass,
): Promise<Omit<Requests, 'moreDue'>> {
  const { db, events } = context;
  const { appId } = app;
  const { redeliverySpacingMs: firstStepMs } = context.config;
  const { ask, store } = bringingOf(context);
  const counts = { accepted: 0, refused: 0 };
  let retryAfterMs: number | undefined;
  await pass.walk(due, {
    entityOf: ({ installationId }) => installationId ?? 0,
    async visit(one, turn) {
      turn.isUnasked = retryAfterMs !== undefined;
      if (turn.isUnasked) return false;
      const { failure, body } = await ask(app, one).then(
        (answer) => ({ failure: undefined, body: answer }),
        (error: unknown) => ({ failure: classifyGitHubError(error), body: undefined }),
      );
      if (failure === undefined) {
        counts.accepted++;
        if (body === undefined) events.redelivered(appId, one.guid);
        else await store(appId, one.guid, body);
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
      if (!turn.isUnasked && isUnanswered(failure)) turn.isUnasked = await pass.isAway('github');
      return isOver;
    },
    postpone: ({ guid }) =>
      recordRedeliveryRequest(db, appId, { guid, deliveryId: null }, firstStepMs),
  });
  return retryAfterMs === undefined ? counts : { ...counts, retryAfterMs };
}
