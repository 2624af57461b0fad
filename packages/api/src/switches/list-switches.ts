import type { Database } from '@paddock/db/schema/tables';
import { SUBJECT } from '@paddock/db/switches';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { after, limit, pageOf, type Placed, rowsToRead, toPage } from '../lists/page.ts';
import { switchRow } from './switch.ts';

export const listSwitchesEndpoint = endpoint({
  name: 'listSwitches',
  method: 'GET',
  path: '/api/v1/switches',
  summary: 'Lists what people hold back now, the oldest first, with who, since when and why.',
  access: 'read',
  status: 200,
  input: z.object({ limit, after: after(z.tuple([z.string().max(40), z.string()])) }),
  output: pageOf(switchRow),
  answer: async ({ db }, input) =>
    toPage(await listSwitches(db, { ...input, limit: rowsToRead(input.limit) }), input.limit),
});

/** What people hold back, the oldest first, from the first one after `after`. */
export async function listSwitches(
  db: Kysely<Database>,
  { limit: most, after: last }: { limit: number; after?: readonly [string, string] | undefined },
): Promise<Placed<z.output<typeof switchRow>>[]> {
  const isAfter =
    last === undefined
      ? sql`true`
      : sql`(since, ${SUBJECT}) > (${last[0]}::timestamptz, ${last[1]})`;
  const { rows } = await sql<Placed<z.output<typeof switchRow>>>`
    select ${SUBJECT} as subject, switched_by as by, since, note, json_build_array(since::text, ${SUBJECT}) as position,
      (select login from installations where entity_id = case subject_type when 'entity' then subject_id::bigint end
        order by updated_at desc limit 1) as name
    from switches where ${isAfter} order by since, subject limit ${most}`.execute(db);
  return rows;
}
