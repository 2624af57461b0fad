import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';
import {
  newestOf,
  newestRows,
  type PageOfTime,
  type Position,
  readListed,
} from './newest-first.ts';

/** A stored statement: GitHub's delivery, its answer to us, or a change of ours. */
export interface EventSummary {
  /** Ids of rows may pass 2^53. */
  readonly id: string;
  readonly source: 'webhook' | 'scheduler' | 'reconciler';
  readonly event: string;
  readonly outcome: string;
  readonly guid: string | null;
  readonly appId: number | null;
  readonly installationId: number | null;
  readonly repoId: number | null;
  /** As discovery knows it. */
  readonly repoFullName: string | null;
  readonly jobId: number | null;
  readonly receivedAt: Date;
}

export interface ListedEvent extends EventSummary {
  readonly position: Position<string>;
}

/** An App, or one of its installations: events that name no entity name these. */
export interface AppPlace {
  readonly appId: number;
  readonly installationId: number | null;
}

/** The columns of an EventSummary, of the event `e` and its repository `r`. */
const SUMMARY = sql`
  e.id::text as id, e.source, e.event, e.outcome, e.delivery_guid as guid, e.app_id as "appId", e.installation_id as "installationId",
  e.repo_id as "repoId", r.full_name as "repoFullName", e.job_id as "jobId", e.received_at as "receivedAt"`;

const REPOSITORY = sql`left join repositories r on r.repo_id = e.repo_id`;

const EVENTS = {
  table: sql`(select *, received_at as created_at from installation_events) events`,
  id: sql`id`,
  idType: sql`bigint`,
  columns: SUMMARY,
  joined: sql`installation_events e using (id) ${REPOSITORY}`,
  positionId: sql`e.id::text`,
};

/** The events of an entity, and of these Apps without an entity, the newest first. */
export const listEntityEvents = (
  db: Kysely<Database>,
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

/** The events about a job, the newest first: three, and more only if they are redelivered. */
export const listJobEvents = (
  db: Kysely<Database>,
  jobId: number,
  page: PageOfTime<string>,
): Promise<ListedEvent[]> =>
  readListed(db, EVENTS, newestRows(EVENTS, sql`job_id = ${jobId}`, page));

/** The events of one delivery, the newest first: more than one if it was delivered again. */
export const listDeliveryEvents = (
  db: Kysely<Database>,
  guid: string,
  page: PageOfTime<string>,
): Promise<ListedEvent[]> =>
  readListed(db, EVENTS, newestRows(EVENTS, sql`delivery_guid = ${guid}`, page));

const isOfPlace = ({ appId, installationId }: AppPlace): RawBuilder<unknown> =>
  sql`entity_id is null and app_id = ${appId} and ${
    installationId === null
      ? sql`installation_id is null`
      : sql`installation_id = ${installationId}`
  }`;

/** An event with what its row has of the payload. */
export interface EventPayload {
  readonly event: EventSummary;
  /** In characters of its JSON text. */
  readonly size: number;
  /** Undefined: it is longer than what was asked for. */
  readonly payload: unknown;
}

/** Undefined: there is no such event, or it was deleted. */
export async function findEventPayload(
  db: Kysely<Database>,
  id: string,
  mostCharacters: number,
): Promise<EventPayload | undefined> {
  const { rows } = await sql<EventSummary & { size: number; payload: unknown }>`
    select ${SUMMARY}, length(e.payload::text) as size, case when length(e.payload::text) <= ${mostCharacters} then e.payload end as payload
    from installation_events e ${REPOSITORY} where e.id = ${id}::bigint`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { size, payload, ...event } = row;
  return { event, size, payload: size <= mostCharacters ? payload : undefined };
}

/** A stored delivery about a job. */
export interface JobDelivery {
  readonly outcome: string;
  readonly receivedAt: Date;
  readonly payload: unknown;
}

/** A job has three, and more only if they are redelivered: a bound, not a page. */
export const MOST_OF_JOB = 50;

/** The deliveries about a job, the newest first. A repeated body is empty and says nothing. */
export async function findJobDeliveries(
  db: Kysely<Database>,
  jobId: number,
): Promise<JobDelivery[]> {
  const { rows } = await sql<JobDelivery>`
    select outcome, received_at as "receivedAt", payload from installation_events
    where job_id = ${jobId} and source = 'webhook' and outcome <> 'repeated_body'
    order by id desc limit ${MOST_OF_JOB}`.execute(db);
  return rows;
}
