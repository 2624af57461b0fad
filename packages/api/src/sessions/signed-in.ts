import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { instant } from '../lists/dates.ts';
import { after, limit, pageOf, rowsToRead, toPageBy } from '../lists/page.ts';
import { GOES_ON } from './sessions.ts';
import { act, note } from '../actions/act.ts';

/** A person’s name at the identity provider. */
const personName = z.string().min(1).max(200);

/** As the audit names them: no token has such a name. */
const personOf = (name: string): string => `person ${name}`;

/** A person with sessions that no token began. */
const signedIn = z.object({
  person: z.string(),
  sessions: z.int(),
  since: instant.describe('When the newest began'),
  until: instant.describe('When the last one ends by itself'),
});

export const listSessionsEndpoint = endpoint({
  name: 'listSessions',
  method: 'GET',
  path: '/api/v1/sessions',
  summary: 'Lists who has signed in by the identity provider, by name.',
  access: 'operate',
  status: 200,
  input: z.object({ limit, after: after(z.tuple([personName])) }),
  output: pageOf(signedIn),
  async answer({ db }, input) {
    const page = { limit: rowsToRead(input.limit), after: input.after?.[0] };
    return toPageBy(await listSignedIn(db, page), input.limit, ({ person }) => [person]);
  },
});

/** Who is signed in, by name, from the first one after `after`. */
const listSignedIn = (
  db: Kysely<Database>,
  { limit: most, after: last = '' }: { limit: number; after?: string | undefined },
): Promise<z.output<typeof signedIn>[]> =>
  db
    .selectFrom('sessions as s')
    .select(({ fn }) => [
      sql<string>`substr(s.person, ${personOf('').length + 1}::integer)`.as('person'),
      fn.countAll<number>().as('sessions'),
      fn.max('created_at').as('since'),
      fn.max('expires_at').as('until'),
    ])
    .where('person', 'is not', null)
    .where('person', '>', personOf(last))
    .where(GOES_ON)
    .groupBy('s.person')
    .orderBy('s.person')
    .limit(most)
    .execute();

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
  const { numDeletedRows } = await db
    .deleteFrom('sessions')
    .where('person', 'is not', null)
    .where('person', '=', person)
    .executeTakeFirst();
  return Number(numDeletedRows);
}
