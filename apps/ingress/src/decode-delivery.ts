import { isUtf8 } from 'node:buffer';
import type { DeliveryToRecord } from '@paddock/db/deliveries/record-deliveries';
import { parseDelivery } from '@paddock/domain/deliveries/parse-delivery';
import { quoteHugeNumbers, repairJsonText } from '@paddock/domain/text/storable';
import { reduceJobPayload } from '@paddock/domain/deliveries/reduce-job-payload';

/** PostgreSQL's parser has a stack of 2 MB. GitHub nests about ten levels. */
const DEEPEST = 500;
/**
 * Objects and arrays. GitHub's largest payloads have some ten thousand. 26 MB of empty arrays would
 * take 700 MB once parsed.
 */
const MOST_CONTAINERS = 1_000_000;

/**
 * Turns a verified body into the delivery to store, or describes its problem. `reduces`: if no pool
 * serves the job, only a part of its body is stored.
 */
export function decodeDelivery(
  {
    event,
    guid,
    appId,
    digest,
    reduces,
  }: { event: string; guid: string; appId: number; digest: string; reduces: boolean },
  sent: Buffer,
): DeliveryToRecord | { readonly problem: string } {
  const bytes = jsonOf(sent);
  // Invalid UTF-8 becomes U+FFFD here. Escapes that JSONB cannot hold become it in
  // `repairJsonText`.
  const { text, isRepaired } = repairJsonText(bytes.toString('utf8'));
  const problem = whyTooBig(text);
  if (problem !== undefined) return { problem };
  const body = parseJson(text);
  if (body === undefined) return { problem: 'The body is not JSON.' };
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
    bodyDigest: digest,
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

/**
 * Why JSON text is too big to parse. To count all brackets first takes a tenth of `measure`'s time.
 */
function whyTooBig(json: string): string | undefined {
  if (countOf('{', json) + countOf('[', json) <= DEEPEST) return undefined;
  const { depth, containers } = measure(json);
  if (depth > DEEPEST) return `The body is nested deeper than ${DEEPEST} levels.`;
  return containers > MOST_CONTAINERS
    ? `The body has more than ${MOST_CONTAINERS} objects and arrays.`
    : undefined;
}

function countOf(character: string, text: string): number {
  let count = 0;
  for (
    let index = text.indexOf(character);
    index !== -1;
    index = text.indexOf(character, index + 1)
  )
    count++;
  return count;
}

/**
 * The depth of valid JSON text, and its number of objects and arrays. Other text gives any numbers.
 */
function measure(json: string): { depth: number; containers: number } {
  let depth = 0;
  let deepest = 0;
  let containers = 0;
  let isText = false;
  for (let index = 0; index < json.length; index++) {
    const unit = json.charCodeAt(index);
    if (isText) {
      if (unit === BACKSLASH) index++;
      else if (unit === QUOTE) isText = false;
    } else if (unit === QUOTE) isText = true;
    else if (unit === OPEN_BRACKET || unit === OPEN_BRACE) {
      containers++;
      deepest = Math.max(deepest, ++depth);
    } else if (unit === CLOSE_BRACKET || unit === CLOSE_BRACE) depth--;
  }
  return { depth: deepest, containers };
}

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
