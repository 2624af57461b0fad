import { lockMatching } from '@paddock/db/matching/matching-lock';
import type { Database } from '@paddock/db/schema/tables';
import { findSwitches } from '@paddock/db/switches';
import { countBusyWorkers, drainWorkers } from '@paddock/db/workers/drain-workers';
import { stopTask } from '@paddock/domain/tasks/worker-tasks';
import { enqueue } from '@paddock/queue/enqueue';
import type { Kysely } from 'kysely';
import { countOnly } from '../count-only.ts';

/** A matching pass that waits for this one gives up after ten seconds. */
const LIMITS = { lockTimeoutMs: 10_000, statementTimeoutMs: 8_000, idleTimeoutMs: 4_000 };

export interface DrainCounts {
  /** Workers whose stop was requested. */
  stopping: number;
  /** Workers that go on to the end of their job. */
  busy: number;
}

/**
 * Requests the stop of all workers of a pool on which no job runs, in one transaction with their
 * tasks. The making of workers is stopped there; a matching pass that began before that has ended by
 * then, so none appears later. Returns a sentence if somebody has resumed it.
 */
export async function drainPool(
  db: Kysely<Database>,
  pool: string,
  { dryRun }: { dryRun: boolean },
): Promise<DrainCounts | string> {
  if (dryRun)
    return countOnly(db, async (using) => ({
      stopping: (await drainWorkers(using, { pool })).length,
      busy: await countBusyWorkers(using, pool),
    }));
  return db.transaction().execute(async (trx) => {
    await lockMatching(trx, LIMITS);
    if ((await findSwitches(trx, [`pool:${pool}`])).length === 0)
      return 'the making of workers in this pool was resumed';
    const names = await drainWorkers(trx, { pool });
    await enqueue(
      trx,
      names.map((name) => stopTask(name)),
    );
    return { stopping: names.length, busy: await countBusyWorkers(trx, pool) };
  });
}
