import { currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import type { Database } from '@paddock/db/schema/tables';
import { saveDiagnosis } from '@paddock/db/workers/workers';
import type { Kysely } from 'kysely';
import { type Diagnosis, withoutLogs } from './diagnosis.ts';

/**
 * Saves a worker's diagnosis, without its logs if the pool keeps none. Returns false if the
 * worker's state allows no diagnosis now.
 */
export async function keepDiagnosis(
  db: Kysely<Database>,
  { podName, pool }: { readonly podName: string; readonly pool: string },
  diagnosis: Diagnosis,
): Promise<boolean> {
  const pools = (await currentPoolsDocument(db))?.document.pools ?? [];
  const { keepLogs = true } = pools.find(({ name }) => name === pool) ?? {};
  return saveDiagnosis(db, podName, keepLogs ? diagnosis : withoutLogs(diagnosis));
}
