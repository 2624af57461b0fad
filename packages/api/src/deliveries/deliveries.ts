import { allOf, has } from '@paddock/db/newest-first';
import { rowsOf } from '@paddock/db/rows';
import type { Db } from '@paddock/db/schema/tables';
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { dates, instant } from '../lists/dates.ts';
import { fromDigits, githubId, pageInput, pageOf, type Placed, toPage } from '../lists/page.ts';
import { notFound } from '../problem.ts';
import { eventRow, listDeliveryEvents, meaningOf } from '../events/events.ts';
import { REDELIVER } from '@paddock/domain/tasks/sweep-names';
import { note } from '../actions/list-actions.ts';
import { operation } from '../operations/operation.ts';
import { startSweep } from '../operations/start-operation.ts';
import { app, meantApp } from '../sweeps/sweeps.ts';

const failedDelivery = z.object({
  state: z.enum(['waiting', 'given-up']),
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
  nextRequestAt: instant.nullable().describe('Of one that waits'),
  missingHere: z.boolean().describe('GitHub calls it delivered, and no row has it'),
  givenUpAt: instant.nullable(),
  eventId: z.string().nullable().describe('Of one that was given up, for `traceEvent`'),
});

type Failed = Placed<z.output<typeof failedDelivery>>;

const failedInput = z.object({
  state: failedDelivery.shape.state.optional().describe('Whether Paddock goes on asking for it'),
  installation: githubId().optional().describe('GitHub’s id'),
  repository: githubId().optional().describe('GitHub’s id'),
  code: fromDigits(z.int()).optional().describe('Of our answer, as GitHub has it; 0: none'),
  ...dates,
  ...pageInput(z.tuple([z.int(), z.string().max(40), z.string().max(300)])),
});

export const listRedeliveriesEndpoint = endpoint({
  name: 'listRedeliveries',
  path: '/api/v1/redeliveries',
  summary:
    'Lists the deliveries that failed: those that Paddock goes on asking for, then those that GitHub can no longer repeat, the last ones first.',
  input: failedInput,
  output: pageOf(failedDelivery),
  answer: async ({ db }, input) => toPage(await listFailed(db, input), input.limit),
});

/** Deliveries that failed; of one delivery, one for each App for which Paddock goes on asking. */
async function listFailed(
  db: Db,
  { guid, ...given }: z.output<typeof failedInput> & { readonly guid?: string },
): Promise<Failed[]> {
  const { state, installation, repository, code, from, to, after, limit } = given;
  const isOn = (rank: 0 | 1, at: string, key: RawBuilder<unknown>) =>
    allOf(
      has('installation_id', installation),
      from && sql`${sql.ref(at)} >= ${from}`,
      to && sql`${sql.ref(at)} < ${to}`,
      after &&
        sql`(${rank}, ${sql.ref(at)}, ${key}) < (${after[0]}, ${after[1]}::timestamptz, ${after[2]})`,
    );
  const newest = sql`order by at desc, key desc limit ${limit}`;
  const lastCode = sql`(payload ->> 'last_status_code')::integer`;
  return rowsOf<Failed>(db)`
    select *, json_build_array(rank, at::text, key) as position from (
      (select 'waiting' as state, 1 as rank, last_failed_at as at, app_id || ' ' || guid as key, app_id as app, guid, delivery_id::text as delivery,
        concat_ws('.', event, action) as event, installation_id as installation, repository_id as repository, first_failed_at as "firstFailedAt",
        last_failed_at as "lastFailedAt", last_status_code as "lastStatusCode", requests, next_request_at as "nextRequestAt",
        missing_here as "missingHere", null::timestamptz as "givenUpAt", null as "eventId"
      from unresolved_deliveries
      where resolved_at is null and ${allOf(
        // Its index begins with the App.
        guid === undefined
          ? undefined
          : sql`app_id = any (array(select distinct app_id from installations)) and guid = ${guid}`,
        sql`${state ?? 'waiting'} = 'waiting'`,
        has('repository_id', repository),
        has('last_status_code', code),
        isOn(1, 'last_failed_at', sql`app_id || ' ' || guid`),
      )} ${newest})
      union all
      (select 'given-up', 0, received_at as at, id::text as key, app_id, delivery_guid, payload ->> 'delivery_id', event, installation_id, repo_id,
        (payload ->> 'first_failed_at')::timestamptz, (payload ->> 'last_failed_at')::timestamptz, ${lastCode}, (payload ->> 'requests')::integer,
        null, false, received_at, id::text
      from installation_events
      where outcome = 'redelivery_given_up' and ${allOf(
        sql`${guid === undefined && (state ?? 'given-up') === 'given-up'}`,
        has('repo_id', repository),
        code === undefined ? undefined : sql`${lastCode} = ${code}`,
        isOn(0, 'received_at', sql`id::text`),
      )} ${newest})
    ) failed order by rank desc, at desc, key desc limit ${limit}`;
}

const MOST_APPS = 100;

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
      .array(failedDelivery)
      .describe('The Apps for which it failed, and for which Paddock goes on asking for it'),
  }),
  async answer({ db }, { delivery }) {
    const events = await listDeliveryEvents(db, delivery, { limit: MOST });
    const failed = await listFailed(db, { guid: delivery, limit: MOST_APPS });
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
