import { parse } from 'node-cron';

const DAY_SECONDS = 86_400;

/**
 * The newest tick of a cron expression at or before `now`, in UTC, as node-cron reads the
 * expression. All days are alike: its fields of days and months are `*`.
 */
export function nominalTick(now: Date, cron: string): Date {
  const { hour, minute, second } = parse(cron);
  const seconds = Math.floor(now.getTime() / 1000);
  const passed = seconds % DAY_SECONDS;
  const at = (ofDay: number) => new Date((seconds - passed + ofDay) * 1000);
  let lastOfDay: number | undefined;
  for (const h of hour.toReversed())
    for (const m of minute.toReversed())
      for (const s of second.toReversed()) {
        const ofDay = (h * 60 + m) * 60 + s;
        if (ofDay <= passed) return at(ofDay);
        lastOfDay ??= ofDay;
      }
  return at((lastOfDay ?? 0) - DAY_SECONDS);
}

/** How far apart an expression's ticks are on average, in seconds. */
export function cadenceOf(cron: string): number {
  const { hour, minute, second } = parse(cron);
  return DAY_SECONDS / (hour.length * minute.length * second.length);
}

/** How many ticks were missed between the previous taken one and this one. */
export function missedTicks(previous: Date | null, tick: Date, cron: string): number {
  if (previous === null) return 0;
  const everyMs = cadenceOf(cron) * 1000;
  return Math.max(0, Math.round((tick.getTime() - previous.getTime()) / everyMs) - 1);
}

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
