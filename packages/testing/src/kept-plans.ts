import { connectDatabase } from '@paddock/db/connection/connect';
import { createTestDatabase } from './database.ts';

export type KeptPlans = Awaited<ReturnType<typeof openKeptPlans>>;

/**
 * A new database and the only connection to it: every statement keeps the plan of its first
 * execution.
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
