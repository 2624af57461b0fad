import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { instant } from '../lists/dates.ts';
import { after, limit, pageOf, rowsToRead, toPageBy } from '../lists/page.ts';
import { personName, personOf } from './person-name.ts';
import { GOES_ON } from './sessions.ts';

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
export async function listSignedIn(
  db: Kysely<Database>,
  { limit: most, after: last = '' }: { limit: number; after?: string | undefined },
): Promise<z.output<typeof signedIn>[]> {
  const { rows } = await sql<z.output<typeof signedIn>>`
    select substr(person, ${personOf('').length + 1}::integer) as person, count(*)::integer as sessions, max(created_at) as since, max(expires_at) as until
    from sessions where person is not null and person > ${personOf(last)} and ${GOES_ON}
    group by sessions.person order by sessions.person limit ${most}`.execute(db);
  return rows;
}
