import { type Kysely, sql } from 'kysely';
import { closeBreakers } from '../breakers/close-breakers.ts';
import type { Database } from '../schema/tables.ts';

export interface StartedWorker {
  readonly podName: string;
  /** The obstacle that kept its pod from starting until now. */
  readonly wasStuck: string | null;
}

/**
 * Closes the breakers of a started worker's pool for these classes of failures, as far as its start
 * shows that they are over: it was registered since the last of them, or failed so itself. Wakes
 * the matcher.
 */
export async function closeStartedPool(
  db: Kysely<Database>,
  { podName, wasStuck }: StartedWorker,
  failureClasses: readonly string[],
): Promise<void> {
  await closeBreakers(sql`
      from workers w join breakers b on b.subject_type = 'pool' and b.subject_id = w.k8s_pool
      where w.pod_name = ${podName} and b.failure_class = any(${failureClasses}::text[])
        and (w.registered_at > b.failed_at or b.failure_class = ${wasStuck})`).execute(db);
}
