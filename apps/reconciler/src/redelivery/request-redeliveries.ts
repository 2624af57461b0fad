import { findDueRedeliveries, pauseRedeliveryRequests, recordRedeliveryRequest } from '@paddock/db/deliveries/redelivery';
import type { Database } from '@paddock/db/schema/tables';
import { classifyGitHubError, type GitHubFailure } from '@paddock/github/errors';
import type { Kysely } from 'kysely';
import { requestSpacingMs } from './delivery-log.ts';

export interface RequestRedeliveriesOptions {
  db: Kysely<Database>;
  appId: number;
  /** Asks GitHub to repeat the delivery with this id. */
  redeliver: (deliveryId: string) => Promise<void>;
  /** The most requests of one App in a minute. */
  perMinute: number;
  firstStepMs: number;
  earlyMs: number;
  onAccepted: (guid: string) => void;
  onRefused: (guid: string, failure: GitHubFailure) => void;
  signal: AbortSignal;
}

/**
 * Asks for every delivery that is due; what fails for one leaves the others alone, unless GitHub asks to be left alone: who goes on asking is
 * shut out for longer. What was not asked for stays due.
 */
export async function requestRedeliveries(options: RequestRedeliveriesOptions): Promise<{ accepted: number; refused: number }> {
  const { db, appId, perMinute, earlyMs, firstStepMs, signal } = options;
  const counts = { accepted: 0, refused: 0 };
  for (const due of await findDueRedeliveries(db, appId, { perMinute, earlyMs })) {
    if (signal.aborted) break;
    const failure = await options.redeliver(due.deliveryId).then(() => undefined, classifyGitHubError);
    // Another call was told to wait; that was said where the wait began.
    if (failure?.kind === 'rate_limited' && failure.neverSent === true) break;
    if (failure === undefined) {
      counts.accepted++;
      options.onAccepted(due.guid);
    } else {
      counts.refused++;
      options.onRefused(due.guid, failure);
    }
    if (failure === undefined || isAboutTheDelivery(failure)) {
      await recordRedeliveryRequest(db, appId, due, requestSpacingMs(due.requests + 1, firstStepMs));
    }
    if (failure?.retryAfterMs !== undefined) {
      await pauseRedeliveryRequests(db, appId, failure.retryAfterMs);
      break;
    }
  }
  return counts;
}

/** GitHub looked at this delivery and would not repeat it; every other failure says nothing of it, and the next cycle asks again. */
const isAboutTheDelivery = ({ kind }: GitHubFailure): boolean => kind === 'invalid' || kind === 'not_found';
