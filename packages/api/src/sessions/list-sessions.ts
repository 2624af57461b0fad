import { listSignedIn } from '@paddock/db/people/sessions';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { after, limit, pageOf, rowsToRead, toPage } from '../lists/page.ts';
import { nameOf, personName, personOf } from './person-name.ts';

export const listSessionsEndpoint = endpoint({
  name: 'listSessions',
  method: 'GET',
  path: '/api/v1/sessions',
  summary: 'Lists who has signed in by the identity provider, by name.',
  access: 'operate',
  status: 200,
  input: z.object({ limit, after: after(z.tuple([personName])) }),
  output: pageOf(
    z.object({
      person: z.string(),
      sessions: z.int(),
      since: z.iso.datetime().describe('When the newest began'),
      until: z.iso.datetime().describe('When the last one ends by itself'),
    }),
  ),
  async answer({ db }, input) {
    const from = input.after === undefined ? undefined : personOf(input.after[0]);
    return toPage(
      await listSignedIn(db, { limit: rowsToRead(input.limit), after: from }),
      input.limit,
      ({ person }) => [nameOf(person)],
      ({ person, sessions, since, until }) => ({
        person: nameOf(person),
        sessions,
        since: since.toISOString(),
        until: until.toISOString(),
      }),
    );
  },
});
