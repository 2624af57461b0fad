import type { Db, Trx } from '@paddock/db/schema/tables';
import { sql } from 'kysely';
import { z } from 'zod';
import { exactText, isOnPage, type PageOfTime, type Position } from '@paddock/db/newest-first';
import { type Act, type Caller, endpoint } from '../endpoint.ts';
import { dates, instant } from '../lists/dates.ts';
import { pageInput, pageOf, type Placed, positionBy, toPage } from '../lists/page.ts';

/** The input `note` of each action. */
export const note = z
  .string()
  .max(500)
  .regex(/^\P{Cc}+$/u, 'must be one line of text')
  .optional()
  .describe('Why, for those who read it later');

/** Adds to the audit, in the transaction of the action itself. */
export async function record(
  trx: Trx,
  { person, from }: Caller,
  { endpoint: name, subject, note: why }: Act,
  operation: string | null = null,
): Promise<void> {
  await trx
    .insertInto('actions')
    .values({
      person,
      came_from: from,
      endpoint: name,
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
export const act = <T>(caller: Caller, request: Act, work: (trx: Trx) => Promise<T>): Promise<T> =>
  caller.db.transaction().execute(async (trx) => {
    const result = await work(trx);
    await record(trx, caller, request);
    return result;
  });

export const actionRow = z.object({
  id: z.int(),
  at: instant,
  person: z.string().describe('A login where the command ran, or `token NAME`'),
  from: z.enum(['terminal', 'api']),
  endpoint: z.string(),
  subject: z
    .record(z.string(), z.union([z.string(), z.number()]))
    .describe('What it was done to, as {"token": "ci"}'),
  login: z.string().nullable().describe('Of the entity that it was about, as far as it is known'),
  note: z.string().nullable(),
  operation: z.uuid().nullable().describe('The operation that it asked for'),
});

export type ActionRow = z.output<typeof actionRow>;

const COLUMNS = [
  'id',
  'acted_at as at',
  'person',
  'came_from as from',
  'endpoint',
  'subject',
  sql<
    string | null
  >`(select login from installations i where i.entity_id = actions.entity_id order by updated_at desc limit 1)`.as(
    'login',
  ),
  'note',
  'operation',
] as const;

const listInput = z.object({
  person: z.string().max(300).optional().describe('Only what this person did'),
  ...dates,
  ...pageInput(z.tuple([z.int()])),
});

export const listActionsEndpoint = endpoint({
  name: 'listActions',
  path: '/api/v1/actions',
  summary: 'Lists what people did, the newest first. These rows never change, nor expire.',
  input: listInput,
  output: pageOf(actionRow),
  answer: async ({ db }, input) => toPage(await listActions(db, input), input.limit),
});

const listActions = (
  db: Db,
  { limit: most, after: last, person, from, to }: z.output<typeof listInput>,
): Promise<Placed<ActionRow>[]> =>
  db
    .selectFrom('actions')
    .select([...COLUMNS, positionBy('id')])
    .$if(last !== undefined, (query) => query.where('id', '<', last?.[0] ?? 0))
    .$if(person !== undefined, (query) => query.where('person', '=', person ?? ''))
    .$if(from !== undefined, (query) => query.where('acted_at', '>=', from ?? null))
    .$if(to !== undefined, (query) => query.where('acted_at', '<', to ?? null))
    .orderBy('id', 'desc')
    .limit(most)
    .execute();

export function listEntityActions(
  db: Db,
  entityId: number,
  page: PageOfTime<number | string>,
): Promise<Placed<ActionRow, Position<number>>[]> {
  const at = sql<Date>`acted_at`;
  const position = sql<Position<number>>`json_build_array(${exactText(at)}, id)`.as('position');
  return db
    .selectFrom('actions')
    .select([...COLUMNS, position])
    .where('entity_id', '=', entityId)
    .where(isOnPage({ id: sql`id`, idType: sql`bigint` }, page, at))
    .orderBy('acted_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute();
}
