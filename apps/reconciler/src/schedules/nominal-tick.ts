/** The newest tick at or before `now`: ticks are the multiples of a cadence, in UTC. */
export function nominalTick(now: Date, everySeconds: number): Date {
  const everyMs = everySeconds * 1_000;
  return new Date(Math.floor(now.getTime() / everyMs) * everyMs);
}

/** How many ticks were missed between the previous taken one and this one. */
export const missedTicks = (previous: Date | null, tick: Date, everySeconds: number): number =>
  previous === null
    ? 0
    : Math.max(0, Math.round((tick.getTime() - previous.getTime()) / everySeconds / 1_000) - 1);

/**
 * The cron expression (with seconds, UTC) that ticks at the multiples of a cadence. Throws a
 * RangeError if the cadence does not divide a minute, an hour or a day: cron would tick unevenly
 * where those end.
 */
export function cronExpression(everySeconds: number): string {
  if (divides(everySeconds, 60)) return `*/${everySeconds} * * * * *`;
  if (divides(everySeconds / 60, 60)) return `0 */${everySeconds / 60} * * * *`;
  if (divides(everySeconds / 3_600, 24)) return `0 0 */${everySeconds / 3_600} * * *`;
  if (everySeconds === 86_400) return '0 0 0 * * *';
  throw new RangeError(
    `A schedule cannot run every ${everySeconds} s: it must divide a minute, an hour or a day evenly.`,
  );
}

/** A step of a whole unit must be written in the next larger unit. */
const divides = (part: number, whole: number): boolean =>
  Number.isInteger(part) && part < whole && whole % part === 0;
