import { type Kysely, type Selectable, sql } from 'kysely';
import type { Database, WorkersTable } from '../schema/tables.ts';
import { SUMMARY, type WorkerSummary } from './list-workers.ts';

/** A worker as lists have it, with its whole row. */
export type FoundWorker = WorkerSummary & Selectable<WorkersTable>;

/** Undefined: there is no worker of this name, or its row was deleted. */
export async function findWorker(
  db: Kysely<Database>,
  podName: string,
): Promise<FoundWorker | undefined> {
  const { rows } = await sql<FoundWorker>`
    select w.*, ${SUMMARY} from workers w where pod_name = ${podName}`.execute(db);
  return rows[0];
}
