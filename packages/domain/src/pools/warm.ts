import { z } from 'zod';

const SCOPE = /^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,99})(?:\/[A-Za-z0-9._-]{1,100})?$/;
const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

const clock = z
  .string()
  .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'must be a time of the day, from 00:00 to 23:59');
const workers = z.int().max(1_000);

const time = z.strictObject({
  from: clock.describe('When it begins, by the clocks of its time zone.'),
  to: clock.describe('When it ends; on the next day if this is not after `from`.'),
  days: z
    .array(z.enum(DAYS))
    .min(1)
    .optional()
    .describe('The days on which it begins; every day without it.'),
  timezone: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/, 'must be the name of a time zone')
    .refine(isTimeZone, 'is no time zone that is known here: name one such as Europe/Berlin')
    .describe('A name of the IANA database, such as Europe/Berlin.'),
  workers: workers.min(0).describe('How many are idle then; of several times at once the most.'),
});

const kept = z
  .strictObject({
    scope: z
      .string()
      .regex(SCOPE, 'must be an organization, or a repository as owner/name')
      .describe(
        'Where they register: an organization, or owner/name where runners register at repositories.',
      ),
    workers: workers
      .min(1)
      .optional()
      .describe('How many are idle while no job waits for one; with `times` outside of these.'),
    times: z.array(time).min(1).max(50).optional().describe('When how many others are idle.'),
  })
  .refine(({ workers: always, times }) => (always ?? times) !== undefined, {
    path: ['workers'],
    error: 'is missing, and there are no times',
  });

/** How many workers of a pool stay idle, by the scope where they register. */
export const warm = z
  .array(kept)
  .refine(
    (list) => new Set(list.map(({ scope }) => scope.toLowerCase())).size === list.length,
    'names the same scope twice',
  );

export type WarmNumbers = Pick<z.infer<typeof kept>, 'workers' | 'times'>;

/**
 * How many workers stay idle at an instant. The clocks on the wall decide: an hour that they skip
 * opens no time that lies in it, and one that comes twice counts twice.
 */
export function warmAt({ workers: otherwise = 0, times = [] }: WarmNumbers, at: Date): number {
  const counts = times.filter((one) => isWithin(one, at)).map((one) => one.workers);
  return counts.length === 0 ? otherwise : Math.max(...counts);
}

export const mostWarm = ({ workers: otherwise = 0, times = [] }: WarmNumbers): number =>
  Math.max(otherwise, ...times.map((one) => one.workers));

function isWithin({ from, to, days, timezone }: z.infer<typeof time>, at: Date): boolean {
  const parts = clockOf(timezone).formatToParts(at);
  const read = (type: string) => parts.find((part) => part.type === type)?.value ?? '';
  const day = DAYS.findIndex((name) => name === read('weekday').toLowerCase());
  const now = `${read('hour')}:${read('minute')}`;
  const beginsOn = (nth: number) => (days ?? DAYS).some((name) => name === DAYS.at(nth));
  if (from < to) return beginsOn(day) && from <= now && now < to;
  return (beginsOn(day) && from <= now) || (beginsOn(day - 1) && now < to);
}

const clockOf = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
  });

function isTimeZone(name: string): boolean {
  try {
    return clockOf(name).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
