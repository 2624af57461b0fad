const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * A length of time in its two largest units, as `3 min 20 s`. Clocks differ: what is negative is
 * nothing.
 */
export function duration(ms: number): string {
  const length = Math.max(0, ms);
  if (length < SECOND) return length === 0 ? '0 s' : '< 1 s';
  if (length < MINUTE) return `${Math.floor(length / SECOND)} s`;
  if (length < HOUR) return two(length, MINUTE, 'min', SECOND, 's');
  return length < DAY ? two(length, HOUR, 'h', MINUTE, 'min') : two(length, DAY, 'd', HOUR, 'h');
}

function two(length: number, large: number, one: string, small: number, other: string): string {
  const rest = Math.floor((length % large) / small);
  const whole = `${Math.floor(length / large)} ${one}`;
  return rest === 0 ? whole : `${whole} ${rest} ${other}`;
}

/** How long ago an instant was; one just ahead of this clock is `now`. */
export function ago(at: string, now: number): string {
  const ms = now - Date.parse(at);
  if (ms < -5 * SECOND) return `in ${duration(-ms)}`;
  return ms < SECOND ? 'now' : `${duration(ms)} ago`;
}

/** Until an instant; one that is past is overdue for nobody: `now`. */
export const until = (at: string, now: number): string =>
  Date.parse(at) - now < SECOND ? 'now' : `in ${duration(Date.parse(at) - now)}`;

/** From one instant to another, or to now. */
export const between = (from: string, to: string | null, now: number): string =>
  duration((to === null ? now : Date.parse(to)) - Date.parse(from));

/** An instant in UTC, to the second, as `2026-01-31 09:00:05`. */
export const instant = (at: string): string =>
  new Date(at).toISOString().slice(0, 19).replace('T', ' ');
