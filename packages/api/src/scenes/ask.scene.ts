import { expect } from '@jest/globals';
import type { Database, Db } from '@paddock/db/schema/tables';
import { type Selectable, sql } from 'kysely';
import { z } from 'zod';
import type { Endpoint } from '../endpoint.ts';

/**
 * Asks as the console does: from raw input, and with the rights of its role. Holds the answer
 * against the endpoint's schema: it has all that the schema promises and nothing else.
 */
export async function ask<I extends z.ZodObject, O extends z.ZodType>(
  endpoint: Endpoint<I, O>,
  db: Db,
  input: Readonly<Record<string, unknown>> = {},
  person = 'ada',
): Promise<z.input<O>> {
  const given = endpoint.input.parse(input);
  const answer = await db.connection().execute(async (own) => {
    await sql`select set_config('role', current_schema() || '_console', false)`.execute(own);
    try {
      return await endpoint.answer({ db: own, person, from: 'api' }, given);
    } finally {
      await sql`reset role`.execute(own);
    }
  });
  expect(answer).toEqual(z.encode(endpoint.output, endpoint.output.parse(answer)));
  return answer;
}

/** All items of a list, by its pages of `limit`. */
export async function askAll<T, I extends z.ZodObject>(
  endpoint: Endpoint<I, z.ZodType<unknown, { items: T[]; next: string | null }>>,
  db: Db,
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

/** What the last pass found for the key of a job, with or without a reason to wait. */
export async function putKey(
  db: Db,
  job: Selectable<Database['jobs']>,
  reason: string | null,
): Promise<void> {
  await db
    .insertInto('demand_keys')
    .values({
      demand_key: job.demand_key,
      entity_id: job.entity_id,
      entity_name: job.entity_name,
      scope_repo_id: job.scope_repo_id,
      k8s_pool: job.k8s_pool,
      waiting: 2,
      unassigned: 1,
      wait_reason: reason,
      wait_since: reason === null ? null : new Date('2026-01-31T09:00:00Z'),
    })
    .execute();
}
