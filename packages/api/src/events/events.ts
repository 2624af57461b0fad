import {
  newestOf,
  newestRows,
  type PageOfTime,
  type Position,
  readListed,
} from '@paddock/db/newest-first';
import { rowOf } from '@paddock/db/rows';
import type { Db } from '@paddock/db/schema/tables';
import { OUTCOMES } from '@paddock/domain/deliveries/outcomes';
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { instant } from '../lists/dates.ts';
import type { Placed } from '../lists/page.ts';
import { endpoint } from '../endpoint.ts';
import { notFound } from '../problem.ts';

/** A stored statement: GitHub's delivery, its answer to us, or a change of ours. */
export const eventRow = z.object({
  // Ids of rows may pass 2^53.
  id: z.string().describe('For `traceEvent`, which has its payload'),
  source: z.enum(['webhook', 'scheduler', 'reconciler']),
  event: z.string(),
  outcome: z.string(),
  guid: z.string().nullable().describe('GitHub’s id of the delivery; repetitions have the same'),
  app: z.int().nullable(),
  installation: z.int().nullable(),
  repository: z.object({ id: z.int(), fullName: z.string().nullable() }).nullable(),
  job: z.int().nullable(),
  receivedAt: instant,
});

export type EventRow = z.output<typeof eventRow>;

const MEANINGS: Readonly<Record<string, string>> = OUTCOMES;

/** What the outcome means, in words; one of another version stands for itself. */
export const meaningOf = ({ outcome }: Pick<EventRow, 'outcome'>): string =>
  MEANINGS[outcome] ?? outcome;

/** SQL: the columns of an EventRow, of the event `e` and its repository `r`. */
const EVENT_COLUMNS = sql`
  e.id::text as id, e.source, e.event, e.outcome, e.delivery_guid as guid, e.app_id as app, e.installation_id as installation,
  case when e.repo_id is not null then json_build_object('id', e.repo_id, 'fullName', r.full_name) end as repository,
  e.job_id as job, e.received_at as "receivedAt"`;

/** Joins the repository `r` of an event `e`, as discovery knows it. */
const EVENT_REPOSITORY = sql`left join repositories r on r.repo_id = e.repo_id`;

const EVENTS = {
  table: sql`(select *, received_at as created_at from installation_events) events`,
  id: sql`id`,
  idType: sql`bigint`,
  columns: EVENT_COLUMNS,
  joined: sql`installation_events e using (id) ${EVENT_REPOSITORY}`,
  positionId: sql`e.id::text`,
};

type ListedEvent = Placed<EventRow, Position<string>>;

/** An App, or one of its installations: events that name no entity name these. */
export interface AppPlace {
  readonly appId: number;
  readonly installationId: number | null;
}

export const listEntityEvents = (
  db: Db,
  { entityId, places }: { entityId: number | null; places: readonly AppPlace[] },
  page: PageOfTime<string>,
): Promise<ListedEvent[]> =>
  readListed(
    db,
    EVENTS,
    newestOf(
      EVENTS,
      [...(entityId === null ? [] : [sql`entity_id = ${entityId}`]), ...places.map(isOfPlace)].map(
        (condition) => newestRows(EVENTS, condition, page),
      ),
      page,
    ),
  );

export const listJobEvents = (
  db: Db,
  jobId: number,
  page: PageOfTime<string>,
): Promise<ListedEvent[]> =>
  readListed(db, EVENTS, newestRows(EVENTS, sql`job_id = ${jobId}`, page));

/** The events of one delivery, the newest first: more than one if it was delivered again. */
export const listDeliveryEvents = (
  db: Db,
  guid: string,
  page: PageOfTime<string>,
): Promise<ListedEvent[]> =>
  readListed(db, EVENTS, newestRows(EVENTS, sql`delivery_guid = ${guid}`, page));

/** Most events of an owner among which those of one repository are looked for. */
const MOST_OF_OWNER = 1_000;

export const listRepositoryEvents = (
  db: Db,
  repoId: number,
  entityId: number,
  limit: number,
): Promise<ListedEvent[]> =>
  readListed(
    db,
    EVENTS,
    sql`select id, created_at from (
      select id, repo_id, received_at as created_at from installation_events
      where entity_id = ${entityId} order by received_at desc limit ${MOST_OF_OWNER}) newest
    where repo_id = ${repoId} order by created_at desc, id desc limit ${limit}`,
  );

const isOfPlace = ({ appId, installationId }: AppPlace): RawBuilder<unknown> =>
  sql`entity_id is null and app_id = ${appId} and ${
    installationId === null
      ? sql`installation_id is null`
      : sql`installation_id = ${installationId}`
  }`;

/** In characters. A delivery about a job has some 10 000, and GitHub sends 25 MB at most. */
const LONGEST_PAYLOAD = 1_000_000;

export const traceEventEndpoint = endpoint({
  name: 'traceEvent',
  path: '/api/v1/trace/payload/{event}',
  summary: 'Shows an event of a trace with what is stored of its payload.',
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
const findEventPayload = (
  db: Db,
  id: string,
): Promise<(EventRow & { readonly size: number; readonly payload: unknown }) | undefined> =>
  rowOf<EventRow & { size: number; payload: unknown }>(db)`
    select ${EVENT_COLUMNS}, length(e.payload::text) as size, case when length(e.payload::text) <= ${LONGEST_PAYLOAD} then e.payload end as payload
    from installation_events e ${EVENT_REPOSITORY} where e.id = ${id}::bigint`;
