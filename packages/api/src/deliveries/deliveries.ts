import {
  allOf,
  exactText,
  isOnPage,
  type PageOfTime,
  type Position,
} from '@paddock/db/newest-first';
import type { Db } from '@paddock/db/schema/tables';
import { sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { dates, instant } from '../lists/dates.ts';
import { pageInput, pageOf, type Placed, toPage } from '../lists/page.ts';
import { notFound } from '../problem.ts';
import { eventRow, listDeliveryEvents, meaningOf } from '../events/events.ts';
import { REDELIVER } from '@paddock/domain/tasks/sweep-names';
import { note } from '../actions/list-actions.ts';
import { operation } from '../operations/operation.ts';
import { startSweep } from '../operations/start-operation.ts';
import { app, meantApp } from '../sweeps/run-sweep.ts';

const failedDelivery = z.object({
  app: z.int(),
  guid: z.string().nullable().describe('For `redeliverDelivery`'),
  // It may pass 2^53.
  delivery: z.string().nullable().describe('GitHub’s id of the newest attempt'),
  event: z.string(),
  installation: z.int().nullable(),
  repository: z.int().nullable(),
  firstFailedAt: instant,
  lastFailedAt: instant,
  lastStatusCode: z.int().describe('Of our answer, as GitHub has it; 0: none'),
  requests: z.int().describe('How often Paddock has asked GitHub to repeat it'),
});

/** A delivery that failed, for which Paddock goes on asking. */
const unresolved = failedDelivery.extend({
  nextRequestAt: instant,
  missingHere: z.boolean().describe('GitHub calls it delivered, and no row has it'),
});

type Unresolved = Placed<z.output<typeof unresolved>, UnresolvedPosition>;

const unresolvedPosition = z.tuple([z.int(), z.iso.datetime(), z.string().max(300)]);

type UnresolvedPosition = z.output<typeof unresolvedPosition>;

export const listRedeliveriesEndpoint = endpoint({
  name: 'listRedeliveries',
  path: '/api/v1/redeliveries',
  summary:
    'Lists the deliveries that failed and that Paddock goes on asking for, by App, the next request first.',
  input: z.object(pageInput(unresolvedPosition)),
  output: pageOf(unresolved),
  answer: async ({ db }, input) => toPage(await listUnresolved(db, input), input.limit),
});

/**
 * What Paddock goes on asking for, by App, the next request first; of one delivery, one for each App
 * for which it failed.
 */
async function listUnresolved(
  db: Db,
  { limit: most, after: last, guid }: UnresolvedPage,
): Promise<Unresolved[]> {
  const isMeant = allOf(
    // Its index begins with the App.
    guid === undefined
      ? undefined
      : sql`app_id = any (array(select distinct app_id from installations)) and guid = ${guid}`,
    last &&
      sql`(app_id, next_request_at, guid) > (${last[0]}, ${last[1]}::timestamptz, ${last[2]})`,
  );
  const { rows } = await sql<Unresolved>`
    select app_id as app, guid, delivery_id::text as delivery, concat_ws('.', event, action) as event, installation_id as installation,
      repository_id as repository, first_failed_at as "firstFailedAt", last_failed_at as "lastFailedAt", last_status_code as "lastStatusCode", requests,
      next_request_at as "nextRequestAt", missing_here as "missingHere", json_build_array(app_id, ${exactText(sql`next_request_at`)}, guid) as position
    from unresolved_deliveries where resolved_at is null and ${isMeant}
    order by app_id, next_request_at, guid limit ${most}`.execute(db);
  return rows;
}

interface UnresolvedPage {
  readonly limit: number;
  readonly after?: UnresolvedPosition | undefined;
  readonly guid?: string;
}

const MOST_APPS = 100;

const givenUp = failedDelivery.extend({
  eventId: z.string().describe('For `traceEvent`'),
  givenUpAt: instant,
});

export const listGivenUpEndpoint = endpoint({
  name: 'listGivenUpRedeliveries',
  path: '/api/v1/redeliveries/given-up',
  summary: 'Lists the deliveries that GitHub can no longer repeat, the newest first.',
  input: z.object({
    ...dates,
    ...pageInput(z.tuple([z.iso.datetime(), z.string().regex(/^\d{1,18}$/)])),
  }),
  output: pageOf(givenUp),
  answer: async ({ db }, input) => toPage(await listGivenUp(db, input), input.limit),
});

/** What GitHub can no longer repeat, the newest first. */
async function listGivenUp(
  db: Db,
  page: PageOfTime<string>,
): Promise<Placed<z.output<typeof givenUp>>[]> {
  const at = sql`received_at`;
  const { rows } = await sql<Placed<z.output<typeof givenUp>, Position<string>>>`
    select app_id as app, delivery_guid as guid, payload ->> 'delivery_id' as delivery, event, installation_id as installation, repo_id as repository,
      (payload ->> 'first_failed_at')::timestamptz as "firstFailedAt", (payload ->> 'last_failed_at')::timestamptz as "lastFailedAt",
      (payload ->> 'last_status_code')::integer as "lastStatusCode", (payload ->> 'requests')::integer as requests,
      id::text as "eventId", received_at as "givenUpAt", json_build_array(${exactText(at)}, id::text) as position
    from installation_events
    where outcome = 'redelivery_given_up' and ${isOnPage({ id: sql`id`, idType: sql`bigint` }, page, at)}
    order by received_at desc, installation_events.id desc limit ${page.limit}`.execute(db);
  return rows;
}

/** A delivery has one, and more only if it is redelivered: a bound, not a page. */
const MOST = 50;

export const findDeliveryEndpoint = endpoint({
  name: 'findDelivery',
  path: '/api/v1/deliveries/{delivery}',
  summary: 'Says what became of a delivery, and whether Paddock asks for it again.',
  input: z.object({ delivery: z.guid().toLowerCase().describe('The GUID of the delivery') }),
  output: z.object({
    delivery: z.string(),
    events: z
      .array(eventRow.extend({ meaning: z.string().describe('Of the outcome') }))
      .describe(`The newest ${MOST} rows of it, the newest first: one for each time it came`),
    unresolved: z
      .array(unresolved)
      .describe('The Apps for which it failed, and for which Paddock goes on asking for it'),
  }),
  async answer({ db }, { delivery }) {
    const events = await listDeliveryEvents(db, delivery, { limit: MOST });
    const failed = await listUnresolved(db, { guid: delivery, limit: MOST_APPS });
    if (events.length === 0 && failed.length === 0)
      throw notFound(
        'No row names this delivery: it never arrived, or its row was deleted. GitHub can repeat it for three days.',
      );
    return {
      delivery,
      events: events.map((row) => Object.assign(row, { meaning: meaningOf(row) })),
      unresolved: failed,
    };
  },
});

export const redeliverDeliveryEndpoint = endpoint({
  name: 'redeliverDelivery',
  method: 'POST',
  path: '/api/v1/deliveries/{delivery}/redeliver',
  summary: 'Has GitHub repeat one delivery, which it can for three days.',
  status: 202,
  input: z.object({
    delivery: z.guid().toLowerCase().describe('The GUID of the delivery'),
    app: app.optional().describe('Whose log has it; without it, all Apps are looked through'),
    note,
  }),
  output: operation,
  answer: (caller, { delivery, app: appId }, request) =>
    startSweep(caller, request, async (trx) => {
      if (appId !== undefined) await meantApp(trx, appId);
      return {
        kind: REDELIVER,
        subject: { type: 'delivery', id: delivery },
        payload: { guid: delivery, ...(appId === undefined ? {} : { appId }) },
      };
    }),
});
