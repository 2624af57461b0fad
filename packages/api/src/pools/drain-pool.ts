import { setSwitch } from '@paddock/db/switches';
import { DRAIN_POOL } from '@paddock/domain/tasks/sweep-names';
import { z } from 'zod';
import { note } from '../actions/act.ts';
import { endpoint } from '../endpoint.ts';
import { operation } from '../operations/operation.ts';
import { requireUnpaused, startOperation } from '../operations/start-operation.ts';
import { asDryRun, dryRun } from '../operations/sweep-task.ts';
import { requireKnown } from '../switches/switch.ts';

export const drainPoolEndpoint = endpoint({
  name: 'drainPool',
  method: 'POST',
  path: '/api/v1/pools/{pool}/drain',
  summary:
    'Stops the making of workers in a pool, and those of its workers on which no job runs. Busy ones go on to their end.',
  access: 'operate',
  status: 202,
  input: z.object({ pool: z.string().min(1).max(200), dryRun, note }),
  output: operation,
  async answer(caller, { pool, dryRun: onlyCounts, note: why }) {
    await requireKnown(caller, `pool:${pool}`);
    const request = { endpoint: 'drainPool', subject: { pool }, note: why };
    return startOperation(caller, request, async (trx) => {
      const task = { kind: DRAIN_POOL, subject: { type: 'pool', id: pool } };
      if (onlyCounts) return asDryRun(task);
      await requireUnpaused(trx, task.kind, pool);
      await setSwitch(trx, `pool:${pool}`, caller.person, why);
      return task;
    });
  },
});
