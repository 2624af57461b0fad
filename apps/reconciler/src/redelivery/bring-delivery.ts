import { isBadData } from '@paddock/db/connection/errors';
import { decodeDelivery } from '@paddock/db/deliveries/decode-delivery';
import { storeDelivery } from '@paddock/db/deliveries/store-deliveries';
import { currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import type { AppClient } from '@paddock/github/connect';
import { type DeliveryBody, readDelivery, redeliver } from '@paddock/github/deliveries';
import type { SweepContext } from '../sweep.ts';

/** A delivery of an App's log. */
interface Logged {
  readonly guid: string;
  readonly deliveryId: string;
}

/** How deliveries that our events lack come here. */
export interface Bringing {
  /**
   * Asks GitHub to send a delivery again, or reads it from the log. Throws what Octokit throws, and
   * an UnusableAnswerError.
   */
  readonly ask: (app: AppClient, delivery: Logged) => Promise<DeliveryBody | undefined>;
  /** Stores what was read, as ingress does. Throws PostgreSQL's errors that may pass. */
  readonly store: (appId: number, guid: string, body: DeliveryBody) => Promise<void>;
}

/** By `intake` of the configuration: another delivery to ingress, or the body from the log. */
export function bringingOf({ db, config, events, takesFromLog }: SweepContext): Bringing {
  let pools: ReturnType<typeof currentPoolsDocument> | undefined;
  const reduces = config.ignoredJobPayload === 'reduced';
  return {
    ask: (app, { deliveryId }) =>
      takesFromLog()
        ? readDelivery(app, deliveryId)
        : redeliver(app, deliveryId).then(() => undefined),
    async store(appId, guid, { event, payload }) {
      const delivery = decodeDelivery({ event, guid, appId, reduces }, Buffer.from(payload));
      if ('problem' in delivery) return events.deliveryUnusable(appId, guid, delivery.problem);
      const inForce = await (pools ??= currentPoolsDocument(db));
      if (inForce === undefined)
        throw new Error(
          'No pools document is known, so no delivery can be judged: start the scheduler.',
        );
      try {
        const outcome = await storeDelivery(db, delivery, inForce, events.jobsMoved);
        if (outcome !== 'repeated_body') events.verified(appId);
        events.stored(delivery, outcome);
      } catch (error) {
        if (!isBadData(error)) throw error;
        events.deliveryUnusable(appId, guid, 'PostgreSQL cannot hold what this delivery says.');
      }
    },
  };
}
