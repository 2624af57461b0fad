import { findOperation } from '@paddock/queue/read-operations';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { notFound } from '../problem.ts';
import { operation, toOperationRow } from './operation.ts';

export const findOperationEndpoint = endpoint({
  name: 'findOperation',
  method: 'GET',
  path: '/api/v1/operations/{operation}',
  summary: 'Finds an operation by its id, from its enqueuing until it expires.',
  access: 'read',
  status: 200,
  input: z.object({ operation: z.string().max(100) }),
  output: operation,
  async answer({ db }, { operation: id }) {
    const found = await findOperation(db, id);
    if (found === undefined)
      throw notFound(
        'There is no operation of this id: it never existed, or it ended so long ago that its row was deleted.',
      );
    return { ...toOperationRow(found), output: found.output };
  },
});
