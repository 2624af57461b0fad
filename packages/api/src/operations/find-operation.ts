import { type Asker, findAskers } from '@paddock/db/people/actions';
import type { Database } from '@paddock/db/schema/tables';
import { findOperation } from '@paddock/queue/read-operations';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { notFound } from '../problem.ts';
import { operation, toOperationRow } from './operation.ts';

/** An operation with all that is known of it. Rejects with a Problem if there is none of this id. */
export async function readOperation(
  db: Kysely<Database>,
  id: string,
): Promise<z.input<typeof operation>> {
  const found = await findOperation(db, id);
  if (found === undefined)
    throw notFound(
      'There is no operation of this id: it never existed, or it ended so long ago that its row was deleted.',
    );
  const askers = await findAskers(db, found);
  return {
    ...toOperationRow(found),
    output: found.output,
    failures: found.failures,
    askers: askers.map(toAsker),
  };
}

const toAsker = ({ person, at, note }: Asker) => ({ person, at: at.toISOString(), note });

export const findOperationEndpoint = endpoint({
  name: 'findOperation',
  method: 'GET',
  path: '/api/v1/operations/{operation}',
  summary: 'Finds an operation by its id, from its enqueuing until it expires.',
  access: 'read',
  status: 200,
  input: z.object({ operation: z.string().max(100) }),
  output: operation,
  answer: ({ db }, { operation: id }) => readOperation(db, id),
});
