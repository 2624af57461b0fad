import { z } from 'zod';

/** An id that JavaScript holds exactly. One that it would round is refused: a wrong id is worse than a refused delivery. */
export const id = z.int().positive();

/**
 * An instant as GitHub writes them: ISO 8601, or seconds since 1970 in `installation`. Becomes ISO 8601 in UTC, comparable as text.
 * One that cannot be read counts as not given, since no event needs any to be handled.
 */
export const instant = z
  .unknown()
  .optional()
  .transform((value): string | null => {
    const ms = typeof value === 'number' ? value * 1000 : typeof value === 'string' ? Date.parse(value) : Number.NaN;
    return ms >= FIRST_INSTANT && ms <= LAST_INSTANT ? new Date(ms).toISOString() : null;
  });

// Years of four digits, which sort as text and which PostgreSQL reads.
const FIRST_INSTANT = Date.parse('0001-01-01T00:00:00Z');
const LAST_INSTANT = Date.parse('9999-12-31T23:59:59Z');

/** Text that may be left out, null, or empty. */
export const optionalText = z
  .string()
  .nullish()
  .transform((value) => (value === undefined || value === '' ? null : value));

/** An organisation or a user; `id` survives renames, `login` does not. */
export const entity = z.object({ id, login: z.string().min(1), type: z.enum(['Organization', 'User']) });
export type Entity = z.infer<typeof entity>;
