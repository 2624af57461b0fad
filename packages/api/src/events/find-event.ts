import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { notFound } from '../problem.ts';
import { EVENT_COLUMNS, EVENT_REPOSITORY, eventRow, type EventRow } from './event.ts';

/** In characters. A delivery about a job has some 10 000, and GitHub sends 25 MB at most. */
const LONGEST_PAYLOAD = 1_000_000;

export const traceEventEndpoint = endpoint({
  name: 'traceEvent',
  method: 'GET',
  path: '/api/v1/trace/payload/{event}',
  summary: 'Shows an event of a trace with what is stored of its payload.',
  access: 'read',
  status: 200,
  input: z.object({
    event: z
      .string()
      .regex(/^\d{1,18}$/, 'must be the id of an event')
      .describe('The id of an event of a trace, or of a delivery of a job'),
  }),
  output: z.object({
    event: eventRow,
    size: z.int().describe('Of the payload, in characters of JSON'),
    payload: z
      .unknown()
      .describe(
        `Of jobs without a pool, the part that Paddock needs. Null: it is longer than ${LONGEST_PAYLOAD}`,
      ),
  }),
  async answer({ db }, { event: id }) {
    const found = await findEventPayload(db, id);
    if (found === undefined)
      throw notFound(
        'There is no event of this id: it never existed, or it is so old that its row was deleted.',
      );
    const { size, payload, ...event } = found;
    return { event, size, payload };
  },
});

/** Undefined: there is no such event, or it was deleted. */
export async function findEventPayload(
  db: Kysely<Database>,
  id: string,
): Promise<(EventRow & { readonly size: number; readonly payload: unknown }) | undefined> {
  const { rows } = await sql<EventRow & { size: number; payload: unknown }>`
    select ${EVENT_COLUMNS}, length(e.payload::text) as size, case when length(e.payload::text) <= ${LONGEST_PAYLOAD} then e.payload end as payload
    from installation_events e ${EVENT_REPOSITORY} where e.id = ${id}::bigint`.execute(db);
  return rows[0];
}
