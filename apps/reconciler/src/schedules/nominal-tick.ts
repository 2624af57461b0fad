/**
 * The newest tick at or before `now`: ticks are the multiples of the cadence since 1970, in UTC.
 */
export function nominalTick(now: Date, everySeconds: number): Date {
  const everyMs = everySeconds * 1000;
  return new Date(Math.floor(now.getTime() / everyMs) * everyMs);
}

/** How many ticks were missed between the previous taken one and this one. */
export function missedTicks(previous: Date | null, tick: Date, everySeconds: number): number {
  if (previous === null) return 0;
  return Math.max(0, Math.round((tick.getTime() - previous.getTime()) / (everySeconds * 1000)) - 1);
}
