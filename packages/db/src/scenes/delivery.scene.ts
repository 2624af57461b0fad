import { bodyDigest } from '@paddock/domain/deliveries/body-digest';
import { parseDelivery } from '@paddock/domain/deliveries/parse-delivery';
import type { JsonObject } from '@paddock/testing/signed-delivery';
import type { DeliveryToRecord } from '../deliveries/record-deliveries.ts';

/**
 * A delivery of this body, as ingress hands it on once its signature is checked; each has a new
 * GUID.
 */
export function deliveryToRecord(event: string, body: JsonObject, appId = 41): DeliveryToRecord {
  const parsed = parseDelivery(event, body);
  if (parsed.kind === 'malformed') throw new Error(parsed.problem);
  const payload = JSON.stringify(body);
  return {
    guid: crypto.randomUUID(),
    appId,
    parsed,
    payload,
    payloadRepaired: false,
    bodyDigest: bodyDigest({ appId, event }, payload),
  };
}
