import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { notFound } from '../problem.ts';
import { ended, FAILURES, operation, unfinished } from './operation.ts';

type Operation = z.output<typeof operation>;

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

/** An operation with all that is known of it. Rejects with a Problem if there is none of this id. */
export async function readOperation(db: Kysely<Database>, id: string): Promise<Operation> {
  const found = await findOperation(db, id);
  if (found === undefined)
    throw notFound(
      'There is no operation of this id: it never existed, or it ended so long ago that its row was deleted.',
    );
  return { ...found, askers: await findAskers(db, found) };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The operation of this id, or undefined if there is none or it has expired. */
export async function findOperation(
  db: Kysely<Database>,
  id: string,
): Promise<Omit<Operation, 'askers'> | undefined> {
  if (!UUID.test(id)) return undefined;
  // One statement, so one snapshot: between two statements the task could move and be in neither.
  const { rows } = await sql<Omit<Operation, 'askers'>>`
    select found.*, ${FAILURES} as failures from (
      ${unfinished(true)} where id = ${id} union all ${ended(true)} where id = ${id} and expires_at > now()
    ) found`.execute(db);
  return rows[0];
}

/**
 * Everybody who asked for this operation, in order: also for one that was merged into it, as a
 * running task does with its successor when it has to run again.
 */
export async function findAskers(
  db: Kysely<Database>,
  { id, kind, subject }: Pick<Operation, 'id' | 'kind'> & { subject: { type: string; id: string } },
): Promise<Operation['askers']> {
  const { rows } = await sql<Operation['askers'][number]>`
    select person, acted_at as at, note from actions
    where operation = any (array(
      select ${id}::uuid
      union all
      select id from operations
      where subject_id = ${subject.id} and subject_type = ${subject.type} and kind = ${kind}
        and output ->> 'mergedInto' = ${id}))
    order by actions.id`.execute(db);
  return rows;
}
