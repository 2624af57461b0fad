import {
  type FailedRedelivery,
  listGivenUp,
  listUnresolved,
  type UnresolvedRedelivery,
} from '@paddock/db/people/list-redeliveries';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { dates } from '../lists/dates.ts';
import { after, limit, pageOf, rowsToRead, toPage } from '../lists/page.ts';

const failed = z.object({
  app: z.int(),
  guid: z.string().nullable().describe('For `redeliverDelivery`'),
  delivery: z.string().nullable().describe('GitHub’s id of the newest attempt'),
  event: z.string(),
  installation: z.int().nullable(),
  repository: z.int().nullable(),
  firstFailedAt: z.iso.datetime(),
  lastFailedAt: z.iso.datetime(),
  lastStatusCode: z.int().describe('Of our answer, as GitHub has it; 0: none'),
  requests: z.int().describe('How often Paddock has asked GitHub to repeat it'),
});

const toFailed = (row: FailedRedelivery): z.input<typeof failed> => ({
  app: row.appId,
  guid: row.guid,
  delivery: row.deliveryId,
  event: row.event,
  installation: row.installationId,
  repository: row.repoId,
  firstFailedAt: row.firstFailedAt.toISOString(),
  lastFailedAt: row.lastFailedAt.toISOString(),
  lastStatusCode: row.lastStatusCode,
  requests: row.requests,
});

/** A delivery that failed, for which Paddock goes on asking. */
export const unresolved = failed.extend({
  nextRequestAt: z.iso.datetime(),
  missingHere: z.boolean().describe('GitHub calls it delivered, and no row has it'),
});

export const toUnresolved = (row: UnresolvedRedelivery): z.input<typeof unresolved> => ({
  ...toFailed(row),
  nextRequestAt: row.nextRequestAt.toISOString(),
  missingHere: row.isMissingHere,
});

export const listRedeliveriesEndpoint = endpoint({
  name: 'listRedeliveries',
  method: 'GET',
  path: '/api/v1/redeliveries',
  summary:
    'Lists the deliveries that failed and that Paddock goes on asking for, by App, the next request first.',
  access: 'read',
  status: 200,
  input: z.object({
    limit,
    after: after(z.tuple([z.int(), z.iso.datetime(), z.string().max(300)])),
  }),
  output: pageOf(unresolved),
  answer: async ({ db }, input) =>
    toPage(
      await listUnresolved(db, { limit: rowsToRead(input.limit), after: input.after }),
      input.limit,
      ({ position }) => position,
      toUnresolved,
    ),
});

export const listGivenUpEndpoint = endpoint({
  name: 'listGivenUpRedeliveries',
  method: 'GET',
  path: '/api/v1/redeliveries/given-up',
  summary: 'Lists the deliveries that GitHub can no longer repeat, the newest first.',
  access: 'read',
  status: 200,
  input: z.object({
    ...dates,
    limit,
    after: after(z.tuple([z.iso.datetime(), z.string().regex(/^\d{1,18}$/)])),
  }),
  output: pageOf(
    failed.extend({
      eventId: z.string().describe('For `traceEvent`'),
      givenUpAt: z.iso.datetime(),
    }),
  ),
  answer: async ({ db }, input) =>
    toPage(
      await listGivenUp(db, { ...input, limit: rowsToRead(input.limit) }),
      input.limit,
      ({ position }) => position,
      (row) => ({
        ...toFailed(row),
        eventId: row.eventId,
        givenUpAt: row.givenUpAt.toISOString(),
      }),
    ),
});
