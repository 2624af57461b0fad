import { z } from 'zod';
import { isoText } from '@paddock/db/newest-first';
import { type RawBuilder, sql } from 'kysely';

const DAY_MS = 86_400_000;
const UNIT_MS = { d: DAY_MS, h: 3_600_000 } as const;

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const AGO = /^-(\d{1,4})([dh])$/;

/**
 * The inputs `from` and `to` of a list: a day in UTC, an instant of ISO 8601, or a time ago by this
 * machine's clock. A day belongs to the list whole: `to` is the first instant after it.
 */
export const dates = {
  from: instantOfDay((day) => day)
    .optional()
    .describe('From 2026-01-31, an ISO 8601 instant, or -7d, -24h'),
  to: instantOfDay((day) => day + DAY_MS)
    .optional()
    .describe('Until the end of 2026-01-31, an instant, or -24h'),
};

/** The same input, which refuses a `to` before its `from`. */
export const withDatesInOrder = <I extends z.ZodObject>(input: I): I =>
  'from' in input.shape && 'to' in input.shape
    ? input.refine(isInOrder, { path: ['to'], error: 'must not be before `from`' })
    : input;

const isInOrder = ({ from, to }: Record<string, unknown>): boolean =>
  !(from instanceof Date && to instanceof Date && to < from);

/** An instant in an input; of a whole day, the one that `boundOfDay` gives. */
export function instantOfDay(boundOfDay: (startsAtMs: number) => number) {
  return z
    .string()
    .max(40)
    .transform((text, context): Date => {
      const [, count, unit] = AGO.exec(text) ?? [];
      if (count !== undefined)
        return new Date(Date.now() - Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS]);
      if (DAY.test(text) && z.iso.date().safeParse(text).success)
        return new Date(boundOfDay(Date.parse(text)));
      if (z.iso.datetime({ offset: true }).safeParse(text).success) return new Date(text);
      context.addIssue({
        code: 'custom',
        message: 'must be a day (2026-01-31), an instant (2026-01-31T09:00:00Z) or -7d or -24h',
      });
      return z.NEVER;
    });
}

/** An instant in an answer, as ISO 8601. Its form is not checked: one odd row would refuse a list. */
export const instantText = z.string().meta({ format: 'date-time' });

/** The same of a date of ours, which travels in UTC. */
export const instant = z.codec(instantText, z.custom<Date>(), {
  decode: (text) => new Date(text),
  encode: (at) => at.toISOString(),
});

export const timeline = z.array(z.object({ at: instantText, what: z.string() }));

/**
 * SQL: the instants that are known, by what they are of, in their order. Of one second, the order
 * given: GitHub's instants have no parts of it, so that ours would come behind what they caused.
 */
export const timelineOf = (
  instants: Readonly<Record<string, string>>,
): RawBuilder<z.output<typeof timeline>> => {
  const rows = Object.entries(instants).map(
    ([what, at], n) => sql`(${sql.lit(n)}, ${sql.ref(at)}, ${sql.lit(what)})`,
  );
  return sql`(
    select coalesce(json_agg(json_build_object('at', ${isoText('at')}, 'what', what) order by date_trunc('second', at), n), '[]')
    from (values ${sql.join(rows)}) happened (n, at, what) where at is not null)`;
};
