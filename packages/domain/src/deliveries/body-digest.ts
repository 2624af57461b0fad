import { createHash } from 'node:crypto';
import { HANDLED_EVENTS } from './parse-delivery.ts';

const HANDLED: ReadonlySet<string> = new Set(HANDLED_EVENTS);

/**
 * Identifies a delivery although its headers may be forged: by its body, the App that signed it,
 * and the event. All unhandled events count as one, or a made-up name would make a new delivery.
 * Returns as many hex digits as a UUID has.
 */
export function bodyDigest(
  { appId, event }: { appId: number; event: string },
  body: Buffer | string,
): string {
  const hash = createHash('sha256').update(`${appId} ${HANDLED.has(event) ? event : 'other'}\n`);
  return hash.update(body).digest('hex').slice(0, UUID_DIGITS);
}

const UUID_DIGITS = 32;
