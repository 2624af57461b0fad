import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';

/**
 * The same database, but it runs `act` after the answer to its first statement and before the
 * caller sees it: so the test plays a faster process.
 */
export function afterFirstAnswer(
  db: Kysely<Database>,
  act: () => Promise<unknown>,
): Kysely<Database> {
  let seen = 0;
  return db.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      if (seen++ === 0) await act();
      return result;
    },
  });
}

/** The same database, and the number of its statements so far. */
export function countStatements(db: Kysely<Database>): {
  db: Kysely<Database>;
  count: () => number;
} {
  let statements = 0;
  const counted = db.withPlugin({
    transformQuery: ({ node }) => {
      statements++;
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  });
  return { db: counted, count: () => statements };
}
