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

/** All items of a list, by its pages of `limit`. */
export async function askAll<T, I extends z.ZodObject>(
  endpoint: Endpoint<I, z.ZodType<{ items: T[]; next: string | null }>>,
  db: Kysely<Database>,
  input: Readonly<Record<string, unknown>>,
): Promise<T[]> {
  const items: T[] = [];
  let after: string | undefined;
  do {
    const page = await ask(endpoint, db, { ...input, after });
    items.push(...page.items);
    after = page.next ?? undefined;
  } while (after !== undefined);
  return items;
}
