import type { Db } from '@paddock/db/schema/tables';
import { sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { instant } from '../lists/dates.ts';
import { githubId, pageInput, pageOf, type Placed, positionBy, toPage } from '../lists/page.ts';
import { notFound, refused } from '../problem.ts';
import { findTracedInstallation } from '../trace/trace.ts';
import { DISCOVER_JOBS } from '@paddock/domain/tasks/sweep-names';
import { note } from '../actions/list-actions.ts';
import { operation } from '../operations/operation.ts';
import { startSweep } from '../operations/start-operation.ts';
import { tellWhatFollows } from './tell-what-follows.ts';

const statedInstallation = z.object({
  entity: z.object({ id: z.int(), login: z.string(), type: z.enum(['Organization', 'User']) }),
  app: z.int(),
  id: z.int(),
  state: z.enum(['installed', 'refused', 'suspended', 'deleted']),
  since: instant.nullable().describe('Since when it is so; null: it is installed'),
  repositories: z.string().nullable().describe('`all` or `selected`; null: GitHub has not said'),
});

type Installation = z.output<typeof statedInstallation>;

const COLUMNS = [
  sql<
    Installation['entity']
  >`json_build_object('id', entity_id, 'login', login, 'type', entity_type)`.as('entity'),
  'app_id as app',
  'installation_id as id',
  sql<
    Installation['state']
  >`case when deleted_at is not null then 'deleted' when suspended_at is not null then 'suspended' when refused_since is not null then 'refused' else 'installed' end`.as(
    'state',
  ),
  sql<Date | null>`coalesce(deleted_at, suspended_at, refused_since)`.as('since'),
  'repository_selection as repositories',
] as const;

export const listInstallationsEndpoint = endpoint({
  name: 'listInstallations',
  path: '/api/v1/installations',
  summary: 'Lists the installations of the Apps, by entity and App.',
  input: z.object(pageInput(z.tuple([z.int(), z.int()]))),
  output: pageOf(statedInstallation),
  answer: async ({ db }, input) => toPage(await listInstallations(db, input), input.limit),
});

const listInstallations = (
  db: Db,
  { limit: most, after: last }: { limit: number; after?: readonly [number, number] | undefined },
): Promise<Placed<Installation>[]> =>
  db
    .selectFrom('installations')
    .select([...COLUMNS, positionBy('entity_id', 'app_id')])
    .$if(last !== undefined, (query) =>
      query.where(sql<boolean>`(entity_id, app_id) > (${last?.[0]}, ${last?.[1]})`),
    )
    .orderBy('entity_id')
    .orderBy('app_id')
    .limit(most)
    .execute();

/** Undefined: no App is installed under this id, or another installation took its place. */
const findInstallation = (db: Db, id: number): Promise<Installation | undefined> =>
  db
    .selectFrom('installations')
    .select(COLUMNS)
    .where('installation_id', '=', id)
    .orderBy('updated_at', 'desc')
    .limit(1)
    .executeTakeFirst();

const MOST_EVENTS = 100;

const installationEvent = z.object({ id: z.string(), at: instant, event: z.string() });

export const findInstallationEndpoint = endpoint({
  name: 'findInstallation',
  path: '/api/v1/installations/{installation}',
  summary: 'Says what an installation is, and what GitHub said of it.',
  input: z.object({ installation: githubId() }),
  output: z.object({
    installation: z.int(),
    entity: z.object({ id: z.int(), login: z.string().nullable() }).nullable(),
    today: statedInstallation
      .nullable()
      .describe('Null: another installation took its place, or only deliveries name it'),
    follows: z
      .array(z.string())
      .describe(
        'What follows where it is refused, suspended, deleted or without budget, and who ends it',
      ),
    events: z
      .array(installationEvent)
      .describe(`The last ${MOST_EVENTS} deliveries about the installation, the newest first`),
  }),
  async answer({ db }, { installation: id }) {
    const traced = await findTracedInstallation(db, id);
    if (traced === undefined)
      throw notFound('No row names this installation: no delivery of it ever arrived.');
    const today = await findInstallation(db, id);
    return {
      installation: id,
      entity: traced.entity,
      today: today ?? null,
      follows: today === undefined ? [] : await tellWhatFollows(db, today),
      events: await findInstallationEvents(db, id),
    };
  },
});

/** The events that GitHub told of an installation. A replay under another GUID says nothing. */
export const SAID_BY_GITHUB = sql<boolean>`event like 'installation%' and source = 'webhook' and outcome <> 'repeated_body'`;

const findInstallationEvents = (
  db: Db,
  installationId: number,
): Promise<z.output<typeof installationEvent>[]> =>
  db
    .selectFrom('installation_events as e')
    .select([sql<string>`id::text`.as('id'), 'event', 'received_at as at'])
    .where('installation_id', '=', installationId)
    .where(SAID_BY_GITHUB)
    .orderBy('received_at', 'desc')
    .orderBy('e.id', 'desc')
    .limit(MOST_EVENTS)
    .execute();

export const resyncInstallationEndpoint = endpoint({
  name: 'resyncInstallation',
  method: 'POST',
  path: '/api/v1/installations/{installation}/resync',
  summary: 'Has discovery read the active repositories of an installation anew, and first.',
  status: 202,
  input: z.object({ installation: githubId(), note }),
  output: operation,
  answer: (caller, { installation }, request) =>
    startSweep(caller, request, async (trx) => {
      const found = await findInstallation(trx, installation);
      if (found === undefined) throw notFound('There is no installation of this id.');
      if (found.state !== 'installed')
        throw refused('The installation is suspended or was removed.');
      const subject = { type: 'installation', id: String(installation), name: found.entity.login };
      return { kind: DISCOVER_JOBS, subject };
    }),
});
