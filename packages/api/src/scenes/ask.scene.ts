import { expect } from '@jest/globals';
import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';
import type { z } from 'zod';
import type { Endpoint } from '../endpoint.ts';

/**
 * Asks as the services do, from raw input, and holds the answer against the endpoint's schema: it
 * has all that the schema promises and nothing else.
 */
export async function ask<I extends z.ZodObject, O extends z.ZodType>(
  endpoint: Endpoint<I, O>,
  db: Kysely<Database>,
  input: Readonly<Record<string, unknown>> = {},
  person = 'ada',
): Promise<z.output<O>> {
  const answer = await endpoint.answer({ db, person }, endpoint.input.parse(input));
  const read = endpoint.output.parse(answer);
  expect(answer).toEqual(read);
  return read;
}
