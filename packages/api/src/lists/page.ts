import { z } from 'zod';
import { fromDigits } from './whole.ts';

/** A cursor is shorter than this, whatever names a list is sorted by. */
const LONGEST_CURSOR = 1_000;

/** How many items a list answers. */
export const limit = fromDigits(z.number().int().min(1).max(100))
  .default(30)
  .describe('How many items to answer');

/**
 * The input `after` of a list: the `next` of the page before. `position` is the schema of the sort
 * values of one row. Instants among them travel as PostgreSQL prints them, because a Date lacks the
 * microseconds, and a page would repeat or skip rows.
 */
export const after = <P extends z.ZodType>(position: P) =>
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

/** The output of a list. */
export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item),
    next: z.string().nullable().describe('`after` of the next page; null: this page is the last'),
  });

/**
 * The page of `rows`, read by a statement with `rowsToRead(limit)`. `positionOf` gives the sort
 * values of a row, as the statement takes them.
 */
export function toPage<R, T>(
  rows: readonly R[],
  limitOfPage: number,
  positionOf: (row: R) => readonly unknown[],
  toItem: (row: R) => T,
): { items: T[]; next: string | null } {
  const shown = rows.slice(0, limitOfPage);
  const last = shown.at(-1);
  const hasMore = rows.length > limitOfPage && last !== undefined;
  return { items: shown.map(toItem), next: hasMore ? cursorOf(positionOf(last)) : null };
}

/** One row more than the page shows: whether there is a next page. */
export const rowsToRead = (limitOfPage: number): number => limitOfPage + 1;

const cursorOf = (position: readonly unknown[]): string =>
  Buffer.from(JSON.stringify(position)).toString('base64url');

function valuesIn(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
}
