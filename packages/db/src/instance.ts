import type { Kysely } from 'kysely';
import type { Database } from './schema/tables.ts';

/** Who this environment is among others that share an organisation, a namespace or a cluster. */
export async function findInstance(db: Kysely<Database>): Promise<string> {
  const { instance_id: instance } = await db.selectFrom('instance').select('instance_id').executeTakeFirstOrThrow();
  return instance;
}
