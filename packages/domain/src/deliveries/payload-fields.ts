import { z } from 'zod';

/** An id that JavaScript holds exactly. A rounded id would be worse than a refused delivery. */
export const id = z.int().positive();

/**
 * An instant of GitHub: ISO 8601, or seconds since 1970 in `installation`. Becomes ISO 8601 in UTC,
 * which compares as text. An unreadable instant becomes null, since no event needs one.
 */
export const instant = z
  .unknown()
  .optional()
  .transform((value): string | null => {
    const ms =
      typeof value === 'number'
        ? value * 1000
        : typeof value === 'string'
          ? Date.parse(value)
          : Number.NaN;
    return ms >= FIRST_INSTANT && ms <= LAST_INSTANT ? new Date(ms).toISOString() : null;
  });

// Years of four digits sort as text, and PostgreSQL reads them.
const FIRST_INSTANT = Date.parse('0001-01-01T00:00:00Z');
const LAST_INSTANT = Date.parse('9999-12-31T23:59:59Z');

/** Text that may be absent, null or empty; all three become null. */
export const optionalText = z
  .string()
  .nullish()
  .transform((value) => (value === undefined || value === '' ? null : value));

/** An organisation or a user; `id` survives renames, `login` does not. */
export const entity = z.object({
  id,
  login: z.string().min(1),
  type: z.enum(['Organization', 'User']),
});
export type Entity = z.infer<typeof entity>;

/** What is wrong with foreign JSON, for people. */
export const describeIssues = (error: z.ZodError): string =>
  error.issues
    .slice(0, 5)
    .map((issue) => `${issue.path.map(String).join('.') || 'it'}: ${issue.message}`)
    .join('; ');
