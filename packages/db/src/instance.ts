import type { Kysely } from 'kysely';
import type { Database } from './schema/tables.ts';

/** The id of this environment. Others may share its organisation, namespace or cluster. */
export async function findInstance(db: Kysely<Database>): Promise<string> {
  const { instance_id: instance } = await db
    .selectFrom('instance')
    .select('instance_id')
    .executeTakeFirstOrThrow();
  return instance;
}
