import { lockMatching } from '@paddock/db/matching/matching-lock';
import { setSwitch } from '@paddock/db/switches';
import { countPoolToDrain, drainWorkers, findDrainState } from '@paddock/db/workers/worker-stops';
import { stopTask } from '@paddock/domain/tasks/worker-tasks';
import { enqueue } from '@paddock/queue/enqueue';
import { recordDone } from '@paddock/queue/operations';
import { z } from 'zod';
import { note, record } from '../actions/list-actions.ts';
import { type Act, type Caller, endpoint } from '../endpoint.ts';
import { operation, readOperation } from '../operations/operation.ts';
import { startOperation } from '../operations/start-operation.ts';
import { notFound, refused, wrong } from '../problem.ts';
import { requireKnown } from '../switches/switches.ts';

type Operation = Promise<z.output<typeof operation>>;

export const drainEndpoint = endpoint({
  name: 'drain',
  method: 'POST',
  path: '/api/v1/drain/{of}/{name}',
  summary:
    'Stops a worker on which no job runs, once everything proves that none does: if jobs wait for it, another one is made. Of a pool, stops all such workers and the making of new ones: busy ones go on to their end, and the output of the operation counts both.',
  status: 202,
  input: z.object({
    of: z.enum(['worker', 'pool']),
    name: z.string().min(1).max(200),
    dryRun: z.boolean().default(false).describe('Of a pool: only count the workers'),
    note,
  }),
  output: operation,
  answer(caller, { of, name, dryRun }, request) {
    if (of === 'pool') return drainPool(caller, name, dryRun, request);
    if (dryRun) throw wrong('A worker is one: only the drain of a pool has a dry run.');
    return drainWorker(caller, name, request);
  },
});

const drainWorker = (caller: Caller, podName: string, request: Act): Operation =>
  startOperation(caller, request, async (trx) => {
    const [drained] = await drainWorkers(trx, { podName });
    const state = await findDrainState(trx, podName);
    if (state === undefined) throw notFound('There is no worker of this name.');
    if (state === 'ended') throw refused('The worker has ended.');
    if (state === 'busy') throw refused('A job runs on the worker, and it ends with that job.');
    return stopTask(drained ?? { podName, deliveryGuid: null });
  });

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

async function drainPool(caller: Caller, pool: string, dryRun: boolean, request: Act): Operation {
  await requireKnown(caller, `pool:${pool}`);
  return caller.db.transaction().execute(async (trx) => {
    if (!dryRun) {
      // A pass that began before has ended by then, and later ones see the switch: no worker appears
      // after this.
      await lockMatching(trx, LIMITS);
      await setSwitch(trx, `pool:${pool}`, caller.person, request.note);
    }
    const { stopping, busy } = await countPoolToDrain(trx, pool);
    const drained = dryRun ? [] : await drainWorkers(trx, { pool });
    await enqueue(trx, drained.map(stopTask));
    const output: DrainedPool = dryRun
      ? { dryRun, stopping, busy }
      : { stopping: drained.length, busy };
    const subject = { type: dryRun ? 'dry-run' : 'pool', id: pool };
    const task = { kind: 'drain-pool', subject, requestedBy: caller.person };
    const id = await recordDone(trx, task, output);
    const of = { ...request.subject, ...(dryRun ? { dryRun: 'true' } : {}) };
    await record(trx, caller, { ...request, subject: of }, id);
    return readOperation(trx, id);
  });
}
