import { type RawBuilder, sql } from 'kysely';

/** SQL: an interval of `ms` milliseconds, a number or an SQL expression; null stays null. */
export const milliseconds = (ms: number | null | RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(${ms})::float8 * interval '1 millisecond'`;
