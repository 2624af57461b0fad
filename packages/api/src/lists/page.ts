import { sql } from 'kysely';
import { z } from 'zod';

/** `Number` would take `1e1`, `0x10`, blanks and nothing for numbers, too. */
const NUMBER = /^-?\d+(\.\d+)?$/;

/** A number in a query, a path or a command line: text of digits. */
export const fromDigits = <N extends z.ZodNumber>(schema: N) =>
  z.preprocess(
    (given) => (typeof given === 'string' && NUMBER.test(given) ? Number(given) : given),
    schema,
  );

export const githubId = () => fromDigits(z.number().int().positive());

/** A cursor is shorter than this, whatever names a list is sorted by. */
const LONGEST_CURSOR = 1_000;

/** How many items a list answers, read as one more: that row says whether there is a next page. */
const limit = (most: number) =>
  fromDigits(z.number().int().min(1).max(most))
    .default(30)
    .transform((items) => items + 1)
    .describe('How many items to answer');

/**
 * The input `after` of a list: the `next` of the page before. `position` is the schema of the sort
 * values of one row. Instants among them travel as PostgreSQL prints them, because a Date lacks the
 * microseconds, and a page would repeat or skip rows.
 */
const after = <P extends z.ZodType>(position: P) =>
  z
    .string()
    .max(LONGEST_CURSOR)
    .transform((cursor, context): z.output<P> => {
      const read = position.safeParse(valuesIn(cursor));
      if (read.success) return read.data;
      context.addIssue({ code: 'custom', message: 'must be the `next` of a page of this list' });
      return z.NEVER;
    })
    .optional()
    .describe('The `next` of the page before');

export const pageInput = <P extends z.ZodType>(position: P, most = 100) => ({
  limit: limit(most),
  after: after(position),
});

export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item),
    next: z.string().nullable().describe('`after` of the next page; null: this page is the last'),
  });

/** A row of a list at its place: the values that the list is sorted by. */
export type Placed<T, Position = readonly unknown[]> = T & { readonly position: Position };

/** The page of the rows that a statement read with the `limit` of `pageInput`. */
export function toPage<T extends Placed<object>>(
  rows: readonly T[],
  limitOfRows: number,
): { items: T[]; next: string | null } {
  const items = rows.slice(0, limitOfRows - 1);
  const last = items.at(-1);
  const hasMore = rows.length === limitOfRows && last !== undefined;
  return { items, next: hasMore ? cursorOf(last.position) : null };
}

export const positionBy = <Position extends readonly unknown[]>(...columns: readonly string[]) =>
  sql<Position>`json_build_array(${sql.join(columns.map((column) => sql.ref(column)))})`.as(
    'position',
  );

const cursorOf = (position: readonly unknown[]): string =>
  Buffer.from(JSON.stringify(position)).toString('base64url');

function valuesIn(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
}
