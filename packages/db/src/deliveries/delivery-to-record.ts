import type { ParsedDelivery } from '@paddock/domain/deliveries/parse-delivery';

/** One verified delivery. */
export interface DeliveryToRecord {
  readonly guid: string;
  /** The App whose secret signed it. */
  readonly appId: number;
  readonly parsed: ParsedDelivery;
  /** The whole body, JSON that JSONB can hold, as text or its UTF-8. */
  readonly payload: string | Buffer;
  readonly payloadRepaired: boolean;
  /** Distinguishes it from every other delivery without its headers (`bodyDigest`). */
  readonly bodyDigest: string;
  /** The body to store if no pool serves the job. */
  readonly reduced?: () => string;
}
