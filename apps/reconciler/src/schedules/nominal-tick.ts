/** The newest instant at or before `now` at which a schedule of this cadence ticks: a multiple of the cadence since 1970, in UTC (E9). */
export function nominalTick(now: Date, everySeconds: number): Date {
  const everyMs = everySeconds * 1000;
  return new Date(Math.floor(now.getTime() / everyMs) * everyMs);
}

/** How many ticks nobody took between the previous one and this one. */
export function missedTicks(previous: Date | null, tick: Date, everySeconds: number): number {
  if (previous === null) return 0;
  return Math.max(0, Math.round((tick.getTime() - previous.getTime()) / (everySeconds * 1000)) - 1);
}
