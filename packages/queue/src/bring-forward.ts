import type { Database } from '@paddock/db/schema/tables';
import { sql, type Transaction } from 'kysely';

/** Makes queued tasks due now and wakes their executors when the caller commits. */
export async function bringForward(
  trx: Transaction<Database>,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    with brought as (
      update tasks set due_at = now()
      where id = any(${ids}::uuid[]) and status = 'queued' and due_at > now()
      returning kind
    )
    select pg_notify(current_schema() || '_task_event', kind) from brought`.execute(trx);
}
