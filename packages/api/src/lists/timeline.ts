import { isoText } from '@paddock/db/newest-first';
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';

/** What happened to a subject, and when. */
export const timeline = z.array(z.object({ at: z.iso.datetime(), what: z.string() }));

/**
 * SQL: the instants that are known, by what they are of, in their order. Of one instant, the order
 * given.
 */
export const timelineOf = (
  instants: Readonly<Record<string, string>>,
): RawBuilder<z.output<typeof timeline>> => {
  const rows = Object.entries(instants).map(
    ([what, at], n) => sql`(${sql.lit(n)}, ${sql.ref(at)}, ${sql.lit(what)})`,
  );
  return sql`(
    select coalesce(json_agg(json_build_object('at', ${isoText('at')}, 'what', what) order by date_trunc('milliseconds', at), n), '[]')
    from (values ${sql.join(rows)}) happened (n, at, what) where at is not null)`;
};
