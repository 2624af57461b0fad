import { findInstallation, findInstallationEvents } from '@paddock/db/people/list-installations';
import { findTracedInstallation } from '@paddock/db/people/find-traced';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { notFound } from '../problem.ts';
import { githubId } from '../lists/whole.ts';
import { installation, toInstallation } from './list-installations.ts';

const MOST_EVENTS = 100;

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
      .array(z.object({ id: z.string(), at: z.iso.datetime(), event: z.string() }))
      .describe(`The last ${MOST_EVENTS} deliveries about the installation, the newest first`),
  }),
  async answer({ db }, { installation: id }) {
    const traced = await findTracedInstallation(db, id);
    if (traced === undefined)
      throw notFound('No row names this installation: no delivery of it ever arrived.');
    const row = await findInstallation(db, id);
    const events = await findInstallationEvents(db, id, MOST_EVENTS);
    return {
      installation: id,
      entity: traced.entity === null ? null : { id: traced.entity.id, login: traced.entity.login },
      today: row === undefined ? null : toInstallation(row),
      events: events.map(({ at, ...event }) => Object.assign(event, { at: at.toISOString() })),
    };
  },
});
