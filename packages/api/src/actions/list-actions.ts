import { exactText, isOnPage, type PageOfTime, type Position } from '@paddock/db/newest-first';
import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { instant } from '../lists/dates.ts';
import { after, limit, pageOf, type Placed, rowsToRead, toPageBy } from '../lists/page.ts';

/** A row of the audit. */
export const actionRow = z.object({
  id: z.int(),
  at: instant,
  person: z.string().describe('A login where the command ran, or `token NAME`'),
  from: z.enum(['terminal', 'api']),
  endpoint: z.string(),
  subject: z
    .record(z.string(), z.union([z.string(), z.number()]))
    .describe('What it was done to, as {"token": "ci"}'),
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
  'note',
  'operation',
] as const;

export const listActionsEndpoint = endpoint({
  name: 'listActions',
  method: 'GET',
  path: '/api/v1/actions',
  summary: 'Lists what people did, the newest first. These rows never change, nor expire.',
  access: 'read',
  status: 200,
  input: z.object({ limit, after: after(z.tuple([z.int()])) }),
  output: pageOf(actionRow),
  async answer({ db }, { limit: most, after: position }) {
    const rows = await listActions(db, { limit: rowsToRead(most), after: position?.[0] });
    return toPageBy(rows, most, ({ id }) => [id]);
  },
});

/** Actions, the newest first, from the first one before `after`. */
const listActions = (
  db: Kysely<Database>,
  { limit: most, after: last }: { limit: number; after?: number | undefined },
): Promise<ActionRow[]> =>
  db
    .selectFrom('actions')
    .select(COLUMNS)
    .$if(last !== undefined, (query) => query.where('id', '<', last ?? 0))
    .orderBy('id', 'desc')
    .limit(most)
    .execute();

/** What people did to an entity and what belongs to it, the newest first. */
export async function listEntityActions(
  db: Kysely<Database>,
  entityId: number,
  page: PageOfTime<number>,
): Promise<Placed<ActionRow, Position<number>>[]> {
  const at = sql<Date>`acted_at`;
  const rows = await db
    .selectFrom('actions')
    .select([...COLUMNS, exactText(at).as('exactAt')])
    .where('entity_id', '=', entityId)
    .where(isOnPage({ id: sql`id`, idType: sql`bigint` }, page, at))
    .orderBy('acted_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute();
  return rows.map(({ exactAt, ...action }) =>
    Object.assign(action, { position: [exactAt, action.id] as const }),
  );
}
