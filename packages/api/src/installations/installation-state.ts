import { findInstallationEvents } from '@paddock/db/people/find-installation-events';
import { findTracedInstallation } from '@paddock/db/people/find-traced';
import { foldInstallation } from '@paddock/domain/entities/fold-installation';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { dates } from '../lists/dates.ts';
import { notFound } from '../problem.ts';
import { githubId } from '../lists/whole.ts';

/** Of one installation; without the events before these the beginning is unknown. */
const MOST_EVENTS = 2_000;
const MOST_NAMES = 1_000;
const MOST_STEPS = 100;

export const installationStateEndpoint = endpoint({
  name: 'installationState',
  method: 'GET',
  path: '/api/v1/installations/{installation}/state',
  summary: 'Says what an installation was at a time, from its deliveries in GitHub’s order.',
  access: 'read',
  status: 200,
  input: z.object({
    installation: githubId(),
    at: dates.to.describe('Until the end of 2026-01-31, an instant, or -24h; now without it'),
  }),
  output: z.object({
    installation: z.int(),
    entity: z.object({ id: z.int(), login: z.string().nullable() }).nullable(),
    at: z.iso.datetime(),
    status: z
      .enum(['unknown', 'installed', 'suspended', 'deleted'])
      .describe('`unknown`: no delivery up to then says'),
    since: z.iso.datetime().nullable().describe('Null: since before the first delivery'),
    login: z.string().nullable().describe('At that time'),
    repositories: z.object({
      selection: z.string().nullable().describe('`all` or `selected`; null: no delivery says'),
      isComplete: z
        .boolean()
        .describe('No other repository is selected; false: the beginning is unknown'),
      count: z.int(),
      names: z
        .array(z.string())
        .describe(`Those that deliveries have named, ${MOST_NAMES} at most`),
      removed: z.array(z.string()).describe('Those that were selected before'),
    }),
    events: z
      .array(z.object({ id: z.string(), at: z.iso.datetime(), event: z.string() }))
      .describe(`The last ${MOST_STEPS} that the state was made from, the newest first`),
  }),
  async answer({ db }, { installation, at = new Date() }) {
    const traced = await findTracedInstallation(db, installation);
    if (traced === undefined)
      throw notFound('No row names this installation: no delivery of it ever arrived.');
    const events = await findInstallationEvents(db, installation, MOST_EVENTS);
    const { state, steps } = foldInstallation(events, at);
    const { repositories: names, removed, status, since, login, selection } = state;
    return {
      installation,
      entity: traced.entity === null ? null : { id: traced.entity.id, login: traced.entity.login },
      at: at.toISOString(),
      status,
      since,
      login,
      repositories: {
        selection,
        isComplete: state.isComplete,
        count: names.length,
        names: names.slice(0, MOST_NAMES),
        removed: removed.slice(0, MOST_NAMES),
      },
      events: steps.slice(-MOST_STEPS).toReversed(),
    };
  },
});
