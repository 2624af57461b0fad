import { asList, asRecord } from '@paddock/domain/pools/as-record';
import { numberOf, textOf } from './runner-set.ts';

type Mapping = Record<string, unknown>;

const DAY = 24 * 60 * 60_000;
const PERIODS: Readonly<Record<string, number>> = { Daily: DAY, Weekly: 7 * DAY };
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const instant = (value: unknown): number => Date.parse(textOf(value) ?? '');

/**
 * The `times` of warm workers that `scheduledOverrides` of a HorizontalRunnerAutoscaler say. They
 * come again after days of 24 hours there, so the clock is that of UTC.
 */
export function warmTimes(overrides: unknown, now: number, notes: string[]): Mapping[] {
  return asList(overrides).flatMap((override, n) => {
    const { startTime, endTime, minReplicas, recurrenceRule } = asRecord(override);
    const { frequency, untilTime } = asRecord(recurrenceRule);
    const [start = NaN, end = NaN, until = NaN] = [startTime, endTime, untilTime].map(instant);
    const workers = numberOf(minReplicas);
    const period = PERIODS[textOf(frequency) ?? ''] ?? 0;
    const isCarried = workers !== undefined && start < end && end - start <= period;
    const isOver = (textOf(frequency) === undefined ? end : until) < now;
    const says = isOver
      ? 'is left out: it is over'
      : isCarried
        ? `is in \`warm\` by the clock of UTC, as there${until > now ? ', and has no end here' : ''}; of several at once the most counts here, the first there`
        : 'is left out: warm workers come daily or weekly (docs/matching.md)';
    notes.push(`scheduledOverrides.${n}: ${says}`);
    if (isOver || !isCarried) return [];
    return timesOf(start, end, period).map((time) =>
      Object.assign(time, { timezone: 'UTC', workers }),
    );
  });
}

/** Whole days from the start's hour to the same, and what is left of the last one. */
function timesOf(start: number, end: number, period: number): Mapping[] {
  const whole = Math.floor((end - start) / DAY);
  const [from, to] = [start, end].map((at) => new Date(at).toISOString().slice(11, 16));
  const day = new Date(start).getUTCDay();
  const on = (first: number, last: number) =>
    period > DAY && { days: [...DAYS, ...DAYS].slice(day + first, day + last) };
  return [
    ...(whole > 0 ? [{ from, to: from, ...on(0, whole) }] : []),
    ...(from === to ? [] : [{ from, to, ...on(whole, whole + 1) }]),
  ];
}
