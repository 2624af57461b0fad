import type { Subject } from '@paddock/db/schema/columns';
import type { Database } from '@paddock/db/schema/tables';
import type { Transaction } from 'kysely';
import { z } from 'zod';
import type { Caller } from '../endpoint.ts';

/** The input `note` of each action. */
export const note = z
  .string()
  .max(500)
  .regex(/^\P{Cc}+$/u, 'must be one line of text')
  .optional()
  .describe('Why, for those who read it later');

export interface Request {
  /** The name of an endpoint. */
  readonly endpoint: string;
  readonly subject: Subject;
  readonly note: z.output<typeof note>;
}

/**
 * Adds what a person does to the audit, in the transaction of the action itself, with the id of the
 * operation that it asked for.
 */
export async function record(
  trx: Transaction<Database>,
  { person, from }: Caller,
  { endpoint, subject, note: why }: Request,
  operation: string | null = null,
): Promise<void> {
  await trx
    .insertInto('actions')
    .values({
      person,
      came_from: from,
      endpoint,
      subject: JSON.stringify(subject),
      note: why ?? null,
      operation,
    })
    .execute();
}

/**
 * Does what a person asked for, in one transaction with its row in the audit. If `work` rejects,
 * neither is done, and the error is the caller's.
 */
export const act = <T>(
  caller: Caller,
  request: Request,
  work: (trx: Transaction<Database>) => Promise<T>,
): Promise<T> =>
  caller.db.transaction().execute(async (trx) => {
    const result = await work(trx);
    await record(trx, caller, request);
    return result;
  });
