import { randomBytes } from 'node:crypto';

/**
 * mulberry32: small, fast, random enough to spread choices. The same seed gives the same numbers,
 * uniform in [0, 1).
 */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * Decides on each call whether a fault strikes, for a share (0–1) of the calls: at random, and yet
 * evenly. After any number of calls, the strikes are less than one short of the share.
 */
export function evenShare(random: () => number): (share: number) => boolean {
  let owed = 0;
  return (share) => {
    owed += share;
    const strikes = random() < owed;
    if (strikes) owed -= 1;
    return strikes;
  };
}

/** Unguessable text, for secrets that GitHub never repeats. */
export function randomText(bytes: number): string {
  return randomBytes(bytes).toString('base64url');
}
