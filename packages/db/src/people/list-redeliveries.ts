import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';
import { exactText, isOnPage, type PageOfTime, type Position } from './newest-first.ts';

/** A delivery that GitHub could not deliver. */
export interface FailedRedelivery {
  readonly appId: number;
  readonly guid: string | null;
  /** Of the newest attempt. A whole number as text: it may pass 2^53. */
  readonly deliveryId: string | null;
  readonly event: string;
  readonly installationId: number | null;
  readonly repoId: number | null;
  readonly firstFailedAt: Date;
  readonly lastFailedAt: Date;
  readonly lastStatusCode: number;
  /** How often Paddock has asked for it. */
  readonly requests: number;
}

export interface UnresolvedRedelivery extends FailedRedelivery {
  readonly nextRequestAt: Date;
  /** GitHub calls it delivered, and there is no row of it. */
  readonly isMissingHere: boolean;
  readonly position: UnresolvedPosition;
}

export type UnresolvedPosition = readonly [appId: number, at: string, guid: string];

const AT = exactText(sql`next_request_at`);

/** What Paddock goes on asking for, by App, the next request first. */
export function listUnresolved(
  db: Kysely<Database>,
  { limit, after }: { limit: number; after?: UnresolvedPosition | undefined },
): Promise<UnresolvedRedelivery[]> {
  const isAfter =
    after === undefined
      ? sql`true`
      : sql`(app_id, next_request_at, guid) > (${after[0]}, ${after[1]}::timestamptz, ${after[2]})`;
  return readUnresolved(db, isAfter, limit);
}

/** The same of one delivery: one for each App for which it failed. */
export const findUnresolvedByGuid = (
  db: Kysely<Database>,
  guid: string,
): Promise<UnresolvedRedelivery[]> =>
  readUnresolved(
    db,
    // Its index begins with the App.
    sql`app_id = any (array(select distinct app_id from installations)) and guid = ${guid}`,
    MOST_APPS,
  );

const MOST_APPS = 100;

async function readUnresolved(
  db: Kysely<Database>,
  condition: RawBuilder<unknown>,
  limit: number,
): Promise<UnresolvedRedelivery[]> {
  const { rows } = await sql<Omit<UnresolvedRedelivery, 'position'> & { guid: string; at: string }>`
    select app_id as "appId", guid, delivery_id::text as "deliveryId", concat_ws('.', event, action) as event,
      installation_id as "installationId", repository_id as "repoId", first_failed_at as "firstFailedAt", last_failed_at as "lastFailedAt",
      last_status_code as "lastStatusCode", requests, next_request_at as "nextRequestAt", missing_here as "isMissingHere", ${AT} as at
    from unresolved_deliveries where resolved_at is null and ${condition}
    order by app_id, next_request_at, guid limit ${limit}`.execute(db);
  return rows.map(({ at, ...row }) =>
    Object.assign(row, { position: [row.appId, at, row.guid] as const }),
  );
}

export interface GivenUpRedelivery extends FailedRedelivery {
  readonly eventId: string;
  readonly givenUpAt: Date;
  readonly position: Position<string>;
}

/** What GitHub can no longer repeat, the newest first. */
export async function listGivenUp(
  db: Kysely<Database>,
  page: PageOfTime<string>,
): Promise<GivenUpRedelivery[]> {
  const at = sql`received_at`;
  const { rows } = await sql<Omit<GivenUpRedelivery, 'position'> & { at: string }>`
    select id::text as "eventId", app_id as "appId", delivery_guid as guid, payload ->> 'delivery_id' as "deliveryId", event,
      installation_id as "installationId", repo_id as "repoId", (payload ->> 'first_failed_at')::timestamptz as "firstFailedAt",
      (payload ->> 'last_failed_at')::timestamptz as "lastFailedAt", (payload ->> 'last_status_code')::integer as "lastStatusCode",
      (payload ->> 'requests')::integer as requests, received_at as "givenUpAt", ${exactText(at)} as at
    from installation_events
    where outcome = 'redelivery_given_up' and ${isOnPage({ id: sql`id`, idType: sql`bigint` }, page, at)}
    order by received_at desc, installation_events.id desc limit ${page.limit}`.execute(db);
  return rows.map(({ at: exactAt, ...row }) =>
    Object.assign(row, { position: [exactAt, row.eventId] as const }),
  );
}
