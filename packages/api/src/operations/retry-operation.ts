import { noteHandled } from '@paddock/queue/operations';
import { z } from 'zod';
import { note, record } from '../actions/act.ts';
import { endpoint } from '../endpoint.ts';
import { readOperation } from './find-operation.ts';
import { lockOneFailed } from './lock-one-failed.ts';
import { operation } from './operation.ts';
import { repeatFailed, requireRepeatable } from './repeat-failed.ts';

export const retryOperationEndpoint = endpoint({
  name: 'retryOperation',
  method: 'POST',
  path: '/api/v1/operations/{operation}/retry',
  summary: 'Repeats a failed operation as a new one, with all attempts.',
  access: 'operate',
  status: 202,
  input: z.object({ operation: z.string().max(100), note }),
  output: operation,
  answer: (caller, { operation: id, note: why }) =>
    caller.db.transaction().execute(async (trx) => {
      const failed = await lockOneFailed(trx, id);
      await requireRepeatable(trx, failed);
      const retriedAs = await repeatFailed(trx, failed, caller.person);
      await noteHandled(trx, [{ id: failed.id, retriedAs }], caller.person);
      const request = { endpoint: 'retryOperation', subject: { operation: failed.id }, note: why };
      await record(trx, caller, request, retriedAs);
      return readOperation(trx, retriedAs);
    }),
});
