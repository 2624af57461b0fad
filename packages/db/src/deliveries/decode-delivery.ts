import { isUtf8 } from 'node:buffer';
import { bodyDigest, reduceJobPayload } from '@paddock/domain/deliveries/delivery-bodies';
import { parseDelivery } from '@paddock/domain/deliveries/parse-delivery';
import { quoteHugeNumbers, repairJsonText } from '@paddock/domain/text/storable';
import { choice } from '@paddock/runtime/settings';
import type { DeliveryToRecord } from './record-deliveries.ts';

/** The settings of every service that stores deliveries. */
export const deliverySettings = {
  ignoredJobPayload: choice({
    env: 'PADDOCK_IGNORED_JOB_PAYLOAD',
    default: 'reduced',
    doc: 'How much to store of the payload of a job that no pool serves',
    of: ['reduced', 'full'],
  }),
};

/** PostgreSQL's parser has a stack of 2 MB. GitHub nests about ten levels. */
const DEEPEST = 500;

/**
 * Turns a verified body into the delivery to store, or describes its problem. `reduces`: if no pool
 * serves the job, only a part of its body is stored.
 */
export function decodeDelivery(
  { event, guid, appId, reduces }: { event: string; guid: string; appId: number; reduces: boolean },
  sent: Buffer,
): DeliveryToRecord | { readonly problem: string } {
  const bytes = jsonOf(sent);
  // Invalid UTF-8 becomes U+FFFD here. Escapes that JSONB cannot hold become it in
  // `repairJsonText`.
  const { text, isRepaired } = repairJsonText(bytes.toString('utf8'));
  const body = parseJson(text);
  if (body === undefined) return { problem: 'The body is not JSON.' };
  if (isDeeper(body, DEEPEST))
    return { problem: `The body is nested deeper than ${DEEPEST} levels.` };
  const parsed = parseDelivery(event, body);
  if (parsed.kind === 'malformed')
    return { problem: `The delivery cannot be used: ${parsed.problem}.` };
  const isJob = parsed.kind === 'job' || parsed.kind === 'waiting_job';
  const payloadRepaired = isRepaired || !isUtf8(bytes);
  const payload = payloadRepaired ? text : bytes;
  // Parsed again when needed: kept, the objects would take several times the body's counted memory.
  const reduced = () => reduceJobPayload(JSON.parse(String(payload)), bytes.length);
  return {
    guid,
    appId,
    parsed,
    payload,
    payloadRepaired,
    bodyDigest: bodyDigest({ appId, event }, sent),
    ...(isJob && reduces ? { reduced } : {}),
  };
}

/**
 * The same delivery, with quotes around numbers that JSONB cannot hold. A correctly signed body
 * must not be refused for its form.
 */
export function withQuotedNumbers(delivery: DeliveryToRecord): DeliveryToRecord {
  return {
    ...delivery,
    payload: quoteHugeNumbers(String(delivery.payload)),
    payloadRepaired: true,
  };
}

const FORM = Buffer.from('payload=');

/** The JSON of a body: the body, or the field `payload` of a form. No JSON begins like a form. */
function jsonOf(sent: Buffer): Buffer {
  if (!sent.subarray(0, FORM.length).equals(FORM)) return sent;
  return Buffer.from(new URLSearchParams(sent.toString('utf8')).get('payload') ?? '');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1)));
