import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { instant } from '../lists/dates.ts';
import { notFound } from '../problem.ts';
import { githubId } from '../lists/whole.ts';
import { findTracedInstallation } from '../trace/find-traced.ts';
import { findInstallation, installation } from './list-installations.ts';

const MOST_EVENTS = 100;

/** A stored delivery about an installation itself. */
const installationEvent = z.object({ id: z.string(), at: instant, event: z.string() });

export const findInstallationEndpoint = endpoint({
  name: 'findInstallation',
  method: 'GET',
  path: '/api/v1/installations/{installation}',
  summary: 'Says what an installation is, and what GitHub said of it.',
  access: 'read',
  status: 200,
  input: z.object({ installation: githubId() }),
  output: z.object({
    installation: z.int(),
    entity: z.object({ id: z.int(), login: z.string().nullable() }).nullable(),
    today: installation
      .nullable()
      .describe('Null: another installation took its place, or only deliveries name it'),
    events: z
      .array(installationEvent)
      .describe(`The last ${MOST_EVENTS} deliveries about the installation, the newest first`),
  }),
  async answer({ db }, { installation: id }) {
    const traced = await findTracedInstallation(db, id);
    if (traced === undefined)
      throw notFound('No row names this installation: no delivery of it ever arrived.');
    const row = await findInstallation(db, id);
    return {
      installation: id,
      entity: traced.entity === null ? null : { id: traced.entity.id, login: traced.entity.login },
      today: row ?? null,
      events: await findInstallationEvents(db, id),
    };
  },
});

/** The events that GitHub told of an installation. A replay under another GUID says nothing. */
export const SAID_BY_GITHUB = sql<boolean>`event like 'installation%' and source = 'webhook' and outcome <> 'repeated_body'`;

/** The newest events about an installation itself, the newest first. */
export async function findInstallationEvents(
  db: Kysely<Database>,
  installationId: number,
): Promise<z.output<typeof installationEvent>[]> {
  const { rows } = await sql<z.output<typeof installationEvent>>`
    select id::text as id, event, received_at as at from installation_events
    where installation_id = ${installationId} and ${SAID_BY_GITHUB}
    order by received_at desc, installation_events.id desc limit ${MOST_EVENTS}`.execute(db);
  return rows;
}
