import { lockMatching } from '@paddock/db/matching/matching-lock';
import { setSwitch } from '@paddock/db/switches';
import { countPoolToDrain, drainWorkers } from '@paddock/db/workers/drain-workers';
import { stopTask } from '@paddock/domain/tasks/worker-tasks';
import { enqueue } from '@paddock/queue/enqueue';
import { z } from 'zod';
import { act, note } from '../actions/act.ts';
import { endpoint } from '../endpoint.ts';
import { requireKnown } from '../switches/switch.ts';

/** A matching pass that waits for this request gives up after ten seconds. */
const LIMITS = { lockTimeoutMs: 10_000, statementTimeoutMs: 8_000, idleTimeoutMs: 4_000 };

export const drainPoolEndpoint = endpoint({
  name: 'drainPool',
  method: 'POST',
  path: '/api/v1/pools/{pool}/drain',
  summary:
    'Stops the making of workers in a pool, and those of its workers on which no job runs, once everything proves that none does. Busy ones go on to their end.',
  access: 'operate',
  status: 200,
  input: z.object({
    pool: z.string().min(1).max(200),
    dryRun: z.boolean().default(false).describe('Only count the workers'),
    note,
  }),
  output: z.object({
    stopping: z.int().describe('Workers whose stop was requested; of a dry run, would be'),
    busy: z.int().describe('Workers that go on to the end of their job'),
    dryRun: z.boolean(),
  }),
  async answer(caller, { pool, dryRun, note: why }) {
    await requireKnown(caller, `pool:${pool}`);
    if (dryRun) return { ...(await countPoolToDrain(caller.db, pool)), dryRun };
    return act(caller, { endpoint: 'drainPool', subject: { pool }, note: why }, async (trx) => {
      // A pass that began before has ended by then, and later ones see the switch: no worker appears
      // after this.
      await lockMatching(trx, LIMITS);
      await setSwitch(trx, `pool:${pool}`, caller.person, why);
      const names = await drainWorkers(trx, { pool });
      await enqueue(
        trx,
        names.map((name) => stopTask(name)),
      );
      const { busy } = await countPoolToDrain(trx, pool);
      return { stopping: names.length, busy, dryRun };
    });
  },
});
