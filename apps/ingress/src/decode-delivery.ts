import { isUtf8 } from 'node:buffer';
import type { DeliveryToRecord } from '@paddock/db/deliveries/delivery-to-record';
import { parseDelivery } from '@paddock/domain/deliveries/parse-delivery';
import { quoteHugeNumbers } from '@paddock/domain/deliveries/quote-huge-numbers';
import { reduceJobPayload } from '@paddock/domain/deliveries/reduce-job-payload';
import { repairJsonText } from '@paddock/domain/text/storable';

/** PostgreSQL's parser has a stack of 2 MB; GitHub nests about ten deep. */
const DEEPEST = 500;
/** Objects and arrays; GitHub's largest payloads have some ten thousand. 26 MB of empty arrays would take 700 MB once they are parsed. */
const MOST_CONTAINERS = 1_000_000;

/** Turns a verified body into what is stored, or says what is wrong with it. `reduces`: bodies of jobs that no pool serves are cut down. */
export function decodeDelivery(
  { event, guid, appId, digest, reduces }: { event: string; guid: string; appId: number; digest: string; reduces: boolean },
  sent: Buffer,
): DeliveryToRecord | { readonly problem: string } {
  const bytes = jsonOf(sent);
  // Bytes that are no UTF-8 become U+FFFD here, as the escapes that JSONB cannot hold do below (B9).
  const { text, isRepaired } = repairJsonText(bytes.toString('utf8'));
  const problem = whyTooBig(text);
  if (problem !== undefined) return { problem };
  const body = parseJson(text);
  if (body === undefined) return { problem: 'The body is not JSON.' };
  const parsed = parseDelivery(event, body);
  if (parsed.kind === 'malformed') return { problem: `The delivery cannot be used: ${parsed.problem}.` };
  const isJob = parsed.kind === 'job' || parsed.kind === 'waiting_job';
  const payloadRepaired = isRepaired || !isUtf8(bytes);
  const payload = payloadRepaired ? text : bytes;
  // Read again where it is wanted: kept until then, the objects of a body would take several times its memory, which nobody counts.
  const reduced = () => reduceJobPayload(JSON.parse(String(payload)), bytes.length);
  return { guid, appId, parsed, payload, payloadRepaired, bodyDigest: digest, ...(isJob && reduces ? { reduced } : {}) };
}

/**
 * The same delivery with the numbers that JSONB cannot hold in quotes, for the rare text that is JSON and no JSONB: what a correctly signed
 * body says must not be refused for how it says it (B9).
 */
export function rewritten(delivery: DeliveryToRecord): DeliveryToRecord {
  return { ...delivery, payload: quoteHugeNumbers(String(delivery.payload)), payloadRepaired: true };
}

const FORM = Buffer.from('payload=');

/** The JSON of a body: the body itself, or the one field of a form, which GitHub sends for the content type `form`. No JSON begins like it. */
function jsonOf(sent: Buffer): Buffer {
  if (!sent.subarray(0, FORM.length).equals(FORM)) return sent;
  return Buffer.from(new URLSearchParams(sent.toString('utf8')).get('payload') ?? '');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Whatever is wrong with it, the sender knows better: there is nothing to tell but that it is not JSON.
    return undefined;
  }
}

/** Why JSON text is not to be parsed. What has few brackets altogether is found harmless in a tenth of the time of a closer look. */
function whyTooBig(json: string): string | undefined {
  if (countOf('{', json) + countOf('[', json) <= DEEPEST) return undefined;
  const { depth, containers } = measure(json);
  if (depth > DEEPEST) return `The body is nested deeper than ${DEEPEST} levels.`;
  return containers > MOST_CONTAINERS ? `The body has more than ${MOST_CONTAINERS} objects and arrays.` : undefined;
}

function countOf(character: string, text: string): number {
  let count = 0;
  for (let index = text.indexOf(character); index !== -1; index = text.indexOf(character, index + 1)) count++;
  return count;
}

/** How deep valid JSON text is nested, and how many objects and arrays it has; of other text whatever comes of it. */
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
