import {
  createDeliveryEvents,
  type DeliveryEventsOptions,
  type StoredDelivery,
} from '@paddock/db/deliveries/delivery-events';
import type { Outcome } from '@paddock/domain/deliveries/outcomes';
import { createSamples, line, tellEvents } from '@paddock/runtime/events';
import type { BodyBudget } from './read-body.ts';
import type { Gap } from './gaps.ts';

type Held = Readonly<Pick<BodyBudget, 'heldBytes' | 'requests'>>;

/** Why a request was not accepted. A closed set: the metric uses it as a label. */
export type Refusal =
  | 'bad_headers'
  | 'bad_signature'
  | 'bad_body'
  | 'too_large'
  | 'cut_off'
  | 'aborted'
  | 'overloaded'
  | 'too_slow'
  | 'database_unavailable'
  | 'not_ready'
  | 'internal';

/**
 * Refusals that any sender can cause, without a signature or with a captured one. The log samples
 * them.
 */
const UNAUTHENTICATED: ReadonlySet<Refusal> = new Set<Refusal>([
  'bad_headers',
  'bad_signature',
  'bad_body',
  'too_large',
  'cut_off',
  'aborted',
  'overloaded',
]);

/** Without `appId` the signature was not checked, so `event` is not trusted. */
export interface Refused {
  readonly guid?: string;
  readonly event?: string;
  readonly appId?: number;
  readonly reason: string;
  readonly error?: unknown;
  /** Separates the causes of one refusal in the log's samples. */
  readonly kind?: string;
}

const TABLE = {
  poolsInForce: (version: number) => line.info('pools document in force', { version }),
  poolsUnavailable: (error: unknown) => line.warn('pools document could not be read', { error }),
  deliveryRefused: (refusal: Refusal, { guid, ...details }: Omit<Refused, 'kind'>) =>
    line[UNAUTHENTICATED.has(refusal) ? 'info' : 'warn']('delivery refused', {
      refusal,
      ...(guid !== undefined && { deliveryGuid: guid }),
      ...details,
    }),
  batchFailed: (size: number, consequence: 'split' | 'repeated' | 'refused', error: unknown) =>
    line.warn('a batch of deliveries failed', { size, consequence, error }),
  /**
   * Deliveries of the App may have failed before the one just stored. The reconciler reads GitHub's
   * log.
   */
  gapSeen: (appId: number, after: Gap) =>
    line.info('deliveries may have failed before this one: the reconciler reads GitHub’s log', {
      appId,
      after,
    }),
  gapNotReported: (error: unknown) =>
    line.warn('could not ask for a pass over GitHub’s log of deliveries; trying again', { error }),
};

export type IngressEvents = ReturnType<typeof createIngressEvents>;

/**
 * Ingress's events. Each function writes the log line of one event and moves its metrics. `held`:
 * the room that deliveries occupy now.
 */
export function createIngressEvents({
  held: room,
  ...given
}: DeliveryEventsOptions & { readonly held: Held }) {
  const { log, metrics } = given;
  const ofDeliveries = createDeliveryEvents(given);
  const events = tellEvents(TABLE, { log, metrics });
  const sample = createSamples();
  metrics.reading('paddock_held_bytes', 'Bodies of deliveries in memory', () => room.heldBytes);
  metrics.reading(
    'paddock_requests_in_flight',
    'Deliveries that are received or wait to be stored',
    () => room.requests,
  );
  const refusals = metrics.counter(
    'paddock_deliveries_refused_total',
    'Requests that were not stored, by reason',
    ['reason'],
  );
  const seconds = metrics.histogram(
    'paddock_delivery_seconds',
    'From the first byte of a delivery to its answer',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  );
  const batchSeconds = metrics.histogram(
    'paddock_delivery_batch_seconds',
    'Duration of one transaction of deliveries',
    [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  );

  return {
    ...events,
    ...ofDeliveries,
    stored(delivery: StoredDelivery, outcome: Outcome, ms: number) {
      ofDeliveries.stored(delivery, outcome);
      seconds.observe(ms / 1000);
    },
    /**
     * For requests that any sender can make, the log has one line a minute for each `kind`, with how
     * many were left out.
     */
    refused(refusal: Refusal, { kind = '', ...details }: Refused) {
      refusals.inc({ reason: refusal });
      const sampled = UNAUTHENTICATED.has(refusal) ? sample(`${refusal} ${kind}`) : {};
      if (sampled !== undefined) events.deliveryRefused(refusal, { ...details, ...sampled });
    },
    batchWritten: (ms: number) => batchSeconds.observe(ms / 1000),
  };
}
