import { lockMatching } from '@paddock/db/matching/matching-lock';
import type { Database } from '@paddock/db/schema/tables';
import { setSwitch } from '@paddock/db/switches';
import { countPoolToDrain, drainWorkers } from '@paddock/db/workers/drain-workers';
import { stopTask } from '@paddock/domain/tasks/worker-tasks';
import { enqueue } from '@paddock/queue/enqueue';
import { recordDone } from '@paddock/queue/operations';
import type { Transaction } from 'kysely';
import { z } from 'zod';
import { note, record } from '../actions/act.ts';
import { endpoint } from '../endpoint.ts';
import { readOperation } from '../operations/find-operation.ts';
import { operation } from '../operations/operation.ts';
import { requireKnown } from '../switches/switch.ts';

/** A matching pass that waits for this request gives up after ten seconds. */
const LIMITS = { lockTimeoutMs: 10_000, statementTimeoutMs: 8_000, idleTimeoutMs: 4_000 };

/** The output of the operation: how many workers. */
export interface DrainedPool {
  /** Those whose stop was requested; of a dry run, would be. */
  readonly stopping: number;
  /** Those that go on to the end of their job. */
  readonly busy: number;
  readonly dryRun?: true;
}

export const drainPoolEndpoint = endpoint({
  name: 'drainPool',
  method: 'POST',
  path: '/api/v1/pools/{pool}/drain',
  summary:
    'Stops the making of workers in a pool, and those of its workers on which no job runs, once everything proves that none does. Busy ones go on to their end. The output of the operation counts both.',
  access: 'operate',
  status: 202,
  input: z.object({
    pool: z.string().min(1).max(200),
    dryRun: z.boolean().default(false).describe('Only count the workers'),
    note,
  }),
  output: operation,
  async answer(caller, { pool, dryRun, note: why }) {
    await requireKnown(caller, `pool:${pool}`);
    return caller.db.transaction().execute(async (trx) => {
      if (!dryRun) {
        // A pass that began before has ended by then, and later ones see the switch: no worker appears
        // after this.
        await lockMatching(trx, LIMITS);
        await setSwitch(trx, `pool:${pool}`, caller.person, why);
      }
      const { stopping, busy } = await countPoolToDrain(trx, pool);
      const output: DrainedPool = dryRun
        ? { dryRun, stopping, busy }
        : { stopping: await stopAll(trx, pool), busy };
      const id = await recordDone(
        trx,
        {
          kind: 'drain-pool',
          subject: { type: dryRun ? 'dry-run' : 'pool', id: pool },
          requestedBy: caller.person,
        },
        output,
      );
      const subject = { pool, ...(dryRun ? { dryRun: 'true' } : {}) };
      await record(trx, caller, { endpoint: 'drainPool', subject, note: why }, id);
      return readOperation(trx, id);
    });
  },
});

/** Requests the stop of all workers of the pool on which no job runs. Returns how many. */
async function stopAll(trx: Transaction<Database>, pool: string): Promise<number> {
  const names = await drainWorkers(trx, { pool });
  await enqueue(
    trx,
    names.map((name) => stopTask(name)),
  );
  return names.length;
}
