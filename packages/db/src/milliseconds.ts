import { type RawBuilder, sql } from 'kysely';

/** SQL: an interval of `ms` milliseconds, a number or an SQL expression; null stays null. */
export const milliseconds = (ms: number | null | RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(${ms})::float8 * interval '1 millisecond'`;

/** SQL: PostgreSQL's time. */
export const NOW = sql<Date>`now()`;

/** SQL: when it was so many milliseconds ago. */
export const ago = (ms: number): RawBuilder<Date> => sql`now() - ${milliseconds(ms)}`;
