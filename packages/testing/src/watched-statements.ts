import type { Db } from '@paddock/db/schema/tables';

/**
 * The same database, but it runs `act` after the answer to its first statement and before the
 * caller sees it: so the test plays a faster process.
 */
export function afterFirstAnswer(db: Db, act: () => Promise<unknown>): Db {
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
export function countStatements(db: Db): {
  db: Db;
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
