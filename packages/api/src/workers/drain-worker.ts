import { drainWorkers, findDrainState } from '@paddock/db/workers/drain-workers';
import { stopTask } from '@paddock/domain/tasks/worker-tasks';
import { z } from 'zod';
import { note } from '../actions/act.ts';
import { endpoint } from '../endpoint.ts';
import { operation } from '../operations/operation.ts';
import { startOperation } from '../operations/start-operation.ts';
import { notFound, refused } from '../problem.ts';

export const drainWorkerEndpoint = endpoint({
  name: 'drainWorker',
  method: 'POST',
  path: '/api/v1/workers/{worker}/drain',
  summary:
    'Stops a worker on which no job runs, once everything proves that none does. If jobs wait for it, another one is made.',
  access: 'operate',
  status: 202,
  input: z.object({ worker: z.string().min(1).max(100), note }),
  output: operation,
  answer: (caller, { worker, note: why }) =>
    startOperation(
      caller,
      { endpoint: 'drainWorker', subject: { worker }, note: why },
      async (trx) => {
        await drainWorkers(trx, { podName: worker });
        const state = await findDrainState(trx, worker);
        if (state === undefined) throw notFound('There is no worker of this name.');
        if (state === 'ended') throw refused('The worker has ended.');
        if (state === 'busy') throw refused('A job runs on the worker, and it ends with that job.');
        return stopTask(worker);
      },
    ),
});
