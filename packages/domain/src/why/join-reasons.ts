import type { EarlierReason } from './wait-facts.ts';

/** One worker of a paused pool tries, or a place is free for a moment: the reason goes and comes. */
const SHORT_MS = 60_000;

/**
 * Joins a reason with the same one before it, if it was gone for a moment only and none other held
 * meanwhile. Spans come and go the latest first.
 */
export function joinReasons(spans: readonly EarlierReason[]): EarlierReason[] {
  const joined: EarlierReason[] = [];
  for (const span of spans) {
    const later = joined.at(-1);
    const isSame =
      later?.reason === span.reason && later.since.getTime() - span.until.getTime() <= SHORT_MS;
    if (isSame) joined[joined.length - 1] = { ...later, since: span.since };
    else joined.push(span);
  }
  return joined;
}
