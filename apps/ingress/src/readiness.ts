import { whyUnfit } from '@paddock/db/schema-version';
import type { Database } from '@paddock/db/tables';
import type { Kysely } from 'kysely';
import type { Pools } from './pools.ts';

/** Says why no delivery can be taken now, or undefined if it can. */
export function createReadiness({ db, schema, pools }: { db: Kysely<Database>; schema: string; pools: Pools }) {
  return async function whyNotReady(): Promise<string | undefined> {
    try {
      const unfit = await whyUnfit(db, schema);
      if (unfit !== undefined) return unfit;
    } catch (error) {
      return `PostgreSQL cannot be asked: ${error instanceof Error ? error.message : String(error)}`;
    }
    return pools.current() === undefined ? 'the pools document has not been stored in the database yet' : undefined;
  };
}
