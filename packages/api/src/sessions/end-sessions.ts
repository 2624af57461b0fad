import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { act, note } from '../actions/act.ts';
import { endpoint } from '../endpoint.ts';
import { personName, personOf } from './person-name.ts';

export const endSessionsEndpoint = endpoint({
  name: 'endSessions',
  method: 'DELETE',
  path: '/api/v1/sessions/{person}',
  summary: 'Ends all sessions of a person, who may sign in again while the groups allow it.',
  access: 'operate',
  status: 200,
  input: z.object({
    person: personName.describe('As the identity provider names them: ada@example.com'),
    note,
  }),
  output: z.object({ person: z.string(), ended: z.int().describe('Sessions') }),
  answer: (caller, { person, note: why }) =>
    act(caller, { endpoint: 'endSessions', subject: { person }, note: why }, async (trx) => ({
      person,
      ended: await deleteSessionsOf(trx, personOf(person)),
    })),
});

/** Ends all sessions of a person. Returns how many that were. */
async function deleteSessionsOf(db: Kysely<Database>, person: string): Promise<number> {
  const { rows } = await sql`
    delete from sessions where person is not null and person = ${person} returning 1`.execute(db);
  return rows.length;
}
