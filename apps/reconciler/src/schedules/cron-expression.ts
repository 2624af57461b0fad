/**
 * The cron expression (with seconds, UTC) that ticks at the multiples of a cadence. Undefined if
 * the cadence does not divide a minute, an hour or a day: cron would tick unevenly where those end.
 */
export function evenExpression(everySeconds: number): string | undefined {
  if (divides(everySeconds, 60)) return `*/${everySeconds} * * * * *`;
  if (divides(everySeconds, 3600) && everySeconds % 60 === 0)
    return `0 */${everySeconds / 60} * * * *`;
  if (everySeconds === 86_400) return '0 0 0 * * *';
  if (divides(everySeconds, 86_400) && everySeconds % 3600 === 0)
    return `0 0 */${everySeconds / 3600} * * *`;
  return undefined;
}

/** A step of a whole unit must be written in the next larger unit. */
const divides = (part: number, whole: number): boolean => part < whole && whole % part === 0;

/** The same of a cadence that the configuration has checked. */
export function cronExpression(everySeconds: number): string {
  const expression = evenExpression(everySeconds);
  if (expression !== undefined) return expression;
  throw new RangeError(
    `A schedule cannot run every ${everySeconds} s: it must divide a minute, an hour or a day evenly.`,
  );
}
