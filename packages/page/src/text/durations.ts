import { duration } from '@paddock/domain/text/duration';

const SECOND = 1_000;

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
