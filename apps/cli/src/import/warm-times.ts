import { asList, asRecord } from '@paddock/domain/pools/as-record';
import { numberOf, textOf } from './runner-set.ts';

type Mapping = Record<string, unknown>;

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const DAYS_BETWEEN: Readonly<Record<string, number>> = { Daily: 1, Weekly: 7 };
const DAY = 24 * 60 * 60_000;

/**
 * The `times` of warm workers that `scheduledOverrides` of a HorizontalRunnerAutoscaler say. They
 * come again after days of 24 hours there, so the clock is that of UTC.
 */
export function warmTimes(
  overrides: unknown,
  now: number,
): { readonly times: readonly Mapping[]; readonly notes: readonly string[] } {
  const times: Mapping[] = [];
  const notes: string[] = [];
  let carried = 0;
  for (const [n, override] of asList(overrides).map(asRecord).entries()) {
    const say = (what: string) => notes.push(`scheduledOverrides.${n}: ${what}`);
    const { frequency, untilTime } = asRecord(override['recurrenceRule']);
    const [from, to, last] = [override['startTime'], override['endTime'], untilTime].map(
      (one) => textOf(one) ?? '',
    ) as [string, string, string];
    const [start, end, until] = [from, to, last].map(Date.parse) as [number, number, number];
    const workers = numberOf(override['minReplicas']);
    const days = DAYS_BETWEEN[textOf(frequency) ?? ''];
    if (workers === undefined || !(start < end)) say('is left out: it has no numbers or no times');
    else if ((textOf(frequency) === undefined ? end : until) < now) say('is left out: it is over');
    else if (days === undefined)
      say(`is left out: warm workers come daily or weekly (docs/matching.md), not ${from}`);
    else if (end - start > days * DAY) say('is left out: it is longer than its recurrence');
    else {
      carried++;
      for (const time of timesOf(start, end, days))
        times.push({ ...time, timezone: 'UTC', workers });
      if (start > now || until >= now)
        say(`holds from ${from} until ${last || 'ever'} there, and always here`);
    }
  }
  if (carried > 0) notes.push('scheduledOverrides: are in `warm`, by the clock of UTC as there');
  if (carried > 1)
    notes.push('scheduledOverrides: of several at once the first counts there, and the most here');
  return { times, notes };
}

/** Whole days from the start's hour to the same, and what is left of the last one. */
function timesOf(start: number, end: number, days: number): Mapping[] {
  const whole = Math.floor((end - start) / DAY);
  const [from, to] = [start, end].map((at) => new Date(at).toISOString().slice(11, 16));
  const on = (first: number, count: number) => {
    if (days === 1) return {};
    const day = new Date(start).getUTCDay() + first;
    return { days: Array.from({ length: count }, (_, nth) => DAYS[(day + nth) % 7]) };
  };
  return [
    ...(whole > 0 ? [{ from, to: from, ...on(0, whole) }] : []),
    ...(from === to ? [] : [{ from, to, ...on(whole, 1) }]),
  ];
}
