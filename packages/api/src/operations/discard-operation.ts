import { noteHandled } from '@paddock/queue/operations';
import { z } from 'zod';
import { act, note } from '../actions/act.ts';
import { endpoint } from '../endpoint.ts';
import { readOperation } from './find-operation.ts';
import { lockOneFailed } from './lock-one-failed.ts';
import { operation } from './operation.ts';

export const discardOperationEndpoint = endpoint({
  name: 'discardOperation',
  method: 'POST',
  path: '/api/v1/operations/{operation}/discard',
  summary: 'Takes a failed operation off the list of failed ones. It is found until it expires.',
  access: 'operate',
  status: 200,
  input: z.object({ operation: z.string().max(100), note }),
  output: operation,
  answer(caller, { operation: id, note: why }) {
    const request = { endpoint: 'discardOperation', subject: { operation: id }, note: why };
    return act(caller, request, async (trx) => {
      const failed = await lockOneFailed(trx, id);
      await noteHandled(trx, [{ id: failed.id, retriedAs: null }], caller.person);
      return readOperation(trx, failed.id);
    });
  },
});
