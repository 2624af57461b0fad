import { isBadData, isUnavailable } from '@paddock/db/connection/errors';
import { decodeDelivery } from '@paddock/db/deliveries/decode-delivery';
import type { DeliveryToRecord } from '@paddock/db/deliveries/record-deliveries';
import { storeWhole } from '@paddock/db/deliveries/store-deliveries';
import type { Outcome } from '@paddock/domain/deliveries/outcomes';
import type { Request, Response } from 'express';
import { type Batcher, TooSlow } from './batcher.ts';
import type { AppSecrets } from './settings.ts';
import type { IngressEvents, Refusal, Refused } from './events.ts';
import type { Gaps } from './gaps.ts';
import { type Body, type BodyBudget, createReadBody } from './read-body.ts';
import { NotReady } from './pools.ts';
import { readHeaders, verifyDelivery, whyUnverified } from './verify-delivery.ts';

export interface ReceiveOptions {
  /** Those in use now. */
  readonly apps: () => readonly AppSecrets[];
  readonly batcher: Batcher<DeliveryToRecord, Outcome>;
  readonly budget: BodyBudget;
  /** Longest time from the end of the body to the answer. */
  readonly answerTimeoutMs: number;
  readonly reducesIgnoredJobs: boolean;
  readonly events: Pick<IngressEvents, 'verified' | 'stored' | 'refused'>;
  readonly gaps: Pick<Gaps, 'refused' | 'stored'>;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  /** The rest of the body may still arrive, so the connection cannot take another request. */
  readonly endsConnection?: true;
}

/** Receives one delivery. Answers 200 only after the commit. Never rejects. */
export type ReceiveDelivery = (request: Request, response: Response) => Promise<Answer>;

const UNVERIFIED: Answer = { status: 401, text: 'The signature does not match.' };
const BUSY: Answer = {
  status: 503,
  text: 'The delivery could not be stored: send it again later.',
};
const CUT_OFF: Answer = {
  status: 503,
  text: 'There is no room for the rest of the body: send it again later.',
  endsConnection: true,
};

export function createReceiveDelivery(options: ReceiveOptions): ReceiveDelivery {
  const { apps, batcher, budget, answerTimeoutMs, reducesIgnoredJobs, events, gaps } = options;
  const readBody = createReadBody(budget);
  const unread: Readonly<Record<Exclude<Body['kind'], 'whole'>, Answer>> = {
    overloaded: BUSY,
    cut_off: CUT_OFF,
    too_large: { status: 413, text: `A body may have at most ${budget.maxBodyBytes} bytes.` },
    aborted: { status: 400, text: 'The body did not arrive whole.' },
  };

  return async function receiveDelivery(request, response) {
    const begun = performance.now();
    const headers = readHeaders(request.headers);
    if ('problem' in headers)
      return refuse('bad_headers', { status: 400, text: headers.problem }, {});
    const about = { guid: headers.guid, event: headers.event };
    const { body, release } = await readBody(request, response);
    let added: Promise<Outcome> | undefined;
    try {
      if (body.kind !== 'whole') return refuse(body.kind, unread[body.kind], about);
      const known = apps();
      const appId = await verifyDelivery(known, headers, body.bytes);
      if (appId === undefined)
        return refuse('bad_signature', UNVERIFIED, {
          ...about,
          ...whyUnverified(known, headers.target),
        });
      const whose = { ...about, appId, reduces: reducesIgnoredJobs };
      const delivery = decodeDelivery(whose, body.bytes);
      if ('problem' in delivery)
        return refuse('bad_body', { status: 400, text: delivery.problem }, about);
      added = storeWhole(delivery, batcher.add);
      return await answerFor(delivery, added, begun);
    } catch (error) {
      return refuse('internal', BUSY, { ...about, error });
    } finally {
      // After a TooSlow answer the batch still holds the body.
      if (added === undefined) release();
      else void added.then(release, release);
    }
  };

  async function answerFor(
    delivery: DeliveryToRecord,
    added: Promise<Outcome>,
    begun: number,
  ): Promise<Answer> {
    const { guid, appId, parsed } = delivery;
    try {
      const outcome = await within(answerTimeoutMs, added);
      // A repeated body may come from another sender, so it does not prove that GitHub reaches us.
      if (outcome !== 'repeated_body') {
        gaps.stored(appId);
        events.verified(appId);
      }
      events.stored(delivery, outcome, performance.now() - begun);
      return { status: 200, text: outcome };
    } catch (error) {
      const about = { guid, event: parsed.event, appId, error };
      if (isBadData(error))
        return refuse(
          'bad_body',
          { status: 400, text: 'PostgreSQL cannot hold what this delivery says.' },
          about,
        );
      if (error instanceof TooSlow) return refuse('too_slow', BUSY, about);
      if (error instanceof NotReady) return refuse('not_ready', BUSY, about);
      return refuse(isUnavailable(error) ? 'database_unavailable' : 'internal', BUSY, about);
    }
  }

  function refuse(
    refusal: Refusal,
    answer: Answer,
    details: Omit<Refused, 'reason'> & { readonly reason?: string },
  ): Answer {
    if (answer.status === 503) {
      gaps.refused(details.appId);
      if (details.appId !== undefined) events.verified(details.appId);
    }
    events.refused(refusal, { reason: answer.text, ...details });
    return answer;
  }
}

/** The promise's result. Throws TooSlow after `ms`, and ignores the promise from then on. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new TooSlow(`The delivery was not stored within ${ms} ms.`)),
    ms,
  );
  try {
    return await Promise.race([promise, expired]);
  } finally {
    clearTimeout(timer);
  }
}
