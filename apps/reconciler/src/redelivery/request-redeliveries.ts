import { type DueRedelivery, recordRedeliveryRequest } from '@paddock/db/deliveries/redelivery';
import type { Database } from '@paddock/db/schema/tables';
import { classifyGitHubError, type GitHubFailure } from '@paddock/github/errors';
import type { Kysely } from 'kysely';
import { requestSpacingMs } from './request-spacing.ts';

export interface RequestRedeliveriesOptions {
  db: Kysely<Database>;
  appId: number;
  /** Asks GitHub to repeat the delivery with this id. */
  redeliver: (deliveryId: string) => Promise<void>;
  firstStepMs: number;
  onAccepted: (guid: string) => void;
  onRefused: (guid: string, failure: GitHubFailure) => void;
  signal: AbortSignal;
}

/** A minute's share takes seconds so. GitHub allows 100 concurrent requests. */
const REQUESTS_AT_ONCE = 8;

export interface Requests {
  readonly accepted: number;
  readonly refused: number;
  /** GitHub asks us to wait this long, in milliseconds. */
  readonly retryAfterMs?: number;
}

/**
 * Requests every due delivery, in order. A failure concerns only its delivery, but once GitHub asks
 * us to wait, the rest stays due. The first request goes alone: its failure may hold for all.
 */
export async function requestRedeliveries(
  options: RequestRedeliveriesOptions,
  due: readonly DueRedelivery[],
): Promise<Requests> {
  const { db, appId, firstStepMs, signal } = options;
  const counts = { accepted: 0, refused: 0 };
  let retryAfterMs: number | undefined;

  async function request(one: DueRedelivery): Promise<void> {
    const failure = await options
      .redeliver(one.deliveryId)
      .then(() => undefined, classifyGitHubError);
    retryAfterMs ??= failure?.retryAfterMs;
    // GitHub asked an earlier call to wait, and that call logged it.
    if (failure?.kind === 'rate_limited' && failure.neverSent === true) return;
    if (failure === undefined) {
      counts.accepted++;
      options.onAccepted(one.guid);
    } else {
      counts.refused++;
      options.onRefused(one.guid, failure);
    }
    if (failure === undefined || isAboutTheDelivery(failure)) {
      await recordRedeliveryRequest(
        db,
        appId,
        one,
        requestSpacingMs(one.requests + 1, firstStepMs),
      );
    }
  }

  const left = due.values();
  async function requestInTurn(most = Number.POSITIVE_INFINITY): Promise<void> {
    for (let made = 0; made < most && retryAfterMs === undefined && !signal.aborted; made++) {
      const { value } = left.next();
      if (value === undefined) return;
      await request(value);
    }
  }
  await requestInTurn(1);
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, () => requestInTurn()));
  return retryAfterMs === undefined ? counts : { ...counts, retryAfterMs };
}

/**
 * GitHub refused this delivery. Any other failure is not about it, and the next cycle asks again.
 */
const isAboutTheDelivery = ({ kind }: GitHubFailure): boolean =>
  kind === 'invalid' || kind === 'not_found';
