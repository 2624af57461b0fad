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
