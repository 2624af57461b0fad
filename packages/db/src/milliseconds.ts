import { type RawBuilder, sql } from 'kysely';

/** SQL: the interval of so many milliseconds, given as a number or as SQL; null: null. */
export const milliseconds = (ms: number | null | RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(${ms})::float8 * interval '1 millisecond'`;
