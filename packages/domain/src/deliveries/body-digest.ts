import { createHash } from 'node:crypto';
import { HANDLED_EVENTS } from './parse-delivery.ts';

const HANDLED: ReadonlySet<string> = new Set(HANDLED_EVENTS);

/**
 * What tells a delivery from all others whose headers may be made up: its body, the App whose secret signed it, and the event by which the
 * body is read. Of events that are not handled all names count as one, or each name would make another delivery of one body. In hex digits,
 * as many as a UUID has.
 */
export function bodyDigest({ appId, event }: { appId: number; event: string }, body: Buffer | string): string {
  const hash = createHash('sha256').update(`${appId} ${HANDLED.has(event) ? event : 'other'}\n`);
  return hash.update(body).digest('hex').slice(0, UUID_DIGITS);
}

const UUID_DIGITS = 32;
