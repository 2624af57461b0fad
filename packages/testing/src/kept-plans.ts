import { connectDatabase } from '@paddock/db/connection/connect';
import { createTestDatabase } from './database.ts';

export type KeptPlans = Awaited<ReturnType<typeof openKeptPlans>>;

/**
 * A database of its own, and the only connection to it: all statements meet the plans that the
 * first ones left there.
 */
export async function openKeptPlans() {
  const database = await createTestDatabase();
  const { url, schema } = database;
  const connection = connectDatabase({ url, schema, applicationName: 'kept-plans', poolSize: 1 });
  return {
    db: connection.db,
    schema,
    async close(): Promise<void> {
      await connection.close();
      await database.drop();
    },
  };
}
