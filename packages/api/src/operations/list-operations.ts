import { listFailedOperations, listOperationsOf } from '@paddock/queue/read-operations';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { after, limit, pageOf, rowsToRead, toPage } from '../lists/page.ts';
import { failedFilter } from './failed-filter.ts';
import { listedOperation, operationRow, toOperationRow } from './operation.ts';

const page = { limit, after: after(z.tuple([z.string().max(40), z.uuid()])) };

const subject = z
  .string()
  .max(300)
  .regex(/^[a-z-]+:[^\s]+$/, 'must be TYPE:ID, such as repository:acme/app or worker:NAME')
  .transform((text) => {
    const [type, id] = [text.slice(0, text.indexOf(':')), text.slice(text.indexOf(':') + 1)];
    // As `resyncRepository` names it: GitHub ignores the case.
    return { type, id: type === 'repository' ? id.toLowerCase() : id };
  })
  .describe('TYPE:ID, such as repository:acme/app or worker:NAME');

const detail = z
  .enum(['true', 'false'])
  .default('false')
  .transform((given) => given === 'true')
  .describe('`true`: each with its output and its failed runs');

export const listOperationsEndpoint = endpoint({
  name: 'listOperations',
  method: 'GET',
  path: '/api/v1/operations',
  summary: 'Lists the operations of a subject, newest first: queued, running and ended ones.',
  access: 'read',
  status: 200,
  input: z.object({ subject, detail, ...page }),
  output: pageOf(listedOperation),
  answer: async ({ db }, { detail: hasDetail, ...input }) =>
    toPage(
      await listOperationsOf(db, input.subject, {
        ...input,
        hasDetail,
        limit: rowsToRead(input.limit),
      }),
      input.limit,
      ({ position }) => position,
      ({ output, failures = [], ...row }) =>
        Object.assign(toOperationRow({ output, ...row }), hasDetail && { output, failures }),
    ),
});

export const listFailedOperationsEndpoint = endpoint({
  name: 'listFailedOperations',
  method: 'GET',
  path: '/api/v1/failed-operations',
  summary:
    'Lists the failed operations that nobody has retried or discarded, the one that ended last first.',
  access: 'read',
  status: 200,
  input: z.object({ ...failedFilter, ...page }),
  output: pageOf(operationRow),
  answer: async ({ db }, input) =>
    toPage(
      await listFailedOperations(db, { ...input, limit: rowsToRead(input.limit) }),
      input.limit,
      ({ position }) => position,
      toOperationRow,
    ),
});
