import type { Database } from '@paddock/db/schema/tables';
import { type FailedFilter, isFailed } from '@paddock/queue/operations';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { dates, instant } from '../lists/dates.ts';
import { after, limit, pageOf, rowsToRead, toPage } from '../lists/page.ts';
import {
  ended,
  FAILURES,
  type ListedOperation,
  listedOperation,
  operationRow,
  type OperationRow,
  toListed,
  unfinished,
} from './operation.ts';
import { readTaskCounts } from '@paddock/queue/operations';

const page = { limit, after: after(z.tuple([z.string().max(40), z.uuid()])) };

type Page = z.output<z.ZodObject<typeof page>>;

const subject = z
  .string()
  .max(300)
  .regex(/^[a-z-]+:[^\s]+$/, 'must be TYPE:ID, such as repository:acme/app or worker:NAME')
  .transform((text) => {
    const [type, id] = [text.slice(0, text.indexOf(':')), text.slice(text.indexOf(':') + 1)];
    // As `resyncRepository` names it: GitHub ignores the case.
    return { type, id: type === 'repository' ? id.toLowerCase() : id };
  })
  .describe('TYPE:ID, such as repository:acme/app or worker:NAME');

const detail = z
  .enum(['true', 'false'])
  .default('false')
  .transform((given) => given === 'true')
  .describe('`true`: each with its output and its failed runs');

export const listOperationsEndpoint = endpoint({
  name: 'listOperations',
  method: 'GET',
  path: '/api/v1/operations',
  summary: 'Lists the operations of a subject, newest first: queued, running and ended ones.',
  access: 'read',
  status: 200,
  input: z.object({ subject, detail, ...page }),
  output: pageOf(listedOperation),
  async answer({ db }, { detail: hasDetail, ...input }) {
    const toRead = { ...input, hasDetail, limit: rowsToRead(input.limit) };
    return toPage(await listOperationsOf(db, input.subject, toRead), input.limit);
  },
});

/**
 * All operations of a subject, newest first: queued, running and ended ones. `hasDetail`: with their
 * output and failed runs, which may be long.
 */
export async function listOperationsOf(
  db: Kysely<Database>,
  of: { readonly type: string; readonly id: string },
  { limit: most, after: last, hasDetail = false }: Page & { readonly hasDetail?: boolean },
): Promise<ListedOperation<z.output<typeof listedOperation>>[]> {
  const isMeant = sql`subject_id = ${of.id} and subject_type = ${of.type}${last === undefined ? sql`` : sql` and (queued_at, id) < (${last[0]}::timestamptz, ${last[1]}::uuid)`}`;
  const newest = sql`order by "queuedAt" desc, id desc limit ${most}`;
  const { rows } = await sql<z.output<typeof listedOperation> & { at: string }>`
    select *, "queuedAt"::text as at${hasDetail ? sql`, ${FAILURES} as failures` : sql``} from (
      ${unfinished(hasDetail)} where status = 'queued' and ${isMeant}
      union all ${unfinished(hasDetail)} where status = 'running' and ${isMeant}
      union all (${ended(hasDetail)} where ${isMeant} and expires_at > now() ${newest})
    ) found ${newest}`.execute(db);
  return toListed(rows);
}

/** The filters of failed operations. */
export const failedFilter = {
  kind: z.string().max(100).optional().describe('Of this kind of task only'),
  ...dates,
};

export const listFailedOperationsEndpoint = endpoint({
  name: 'listFailedOperations',
  method: 'GET',
  path: '/api/v1/failed-operations',
  summary:
    'Lists the failed operations that nobody has retried or discarded, the one that ended last first.',
  access: 'read',
  status: 200,
  input: z.object({ ...failedFilter, ...page }),
  output: pageOf(operationRow),
  async answer({ db }, input) {
    const rows = await listFailedOperations(db, { ...input, limit: rowsToRead(input.limit) });
    return toPage(rows, input.limit);
  },
});

/** Failed operations that nobody has dealt with, the one that ended last first. */
async function listFailedOperations(
  db: Kysely<Database>,
  { limit: most, after: last, ...filter }: Page & FailedFilter,
): Promise<ListedOperation[]> {
  const { rows } = await sql<OperationRow & { at: string }>`
    select *, "finishedAt"::text as at from (
      ${ended()}
      where ${isFailed(filter)}${last === undefined ? sql`` : sql` and (finished_at, id) < (${last[0]}::timestamptz, ${last[1]}::uuid)`}
      order by finished_at desc, id desc limit ${most}
    ) failed`.execute(db);
  return toListed(rows);
}

const DAY_MS = 86_400_000;

export const countOperationsEndpoint = endpoint({
  name: 'countOperations',
  method: 'GET',
  path: '/api/v1/operations/counts',
  summary:
    'Counts the operations that ended, by kind, outcome and hour or day. Expiry does not change the counts, which are kept for 13 months.',
  access: 'read',
  status: 200,
  input: z.object({
    ...dates,
    kind: z.string().max(100).optional().describe('Of this kind of task only'),
    step: z.enum(['hour', 'day']).default('hour').describe('What each count is of'),
  }),
  output: z.object({
    items: z.array(
      z.object({
        from: instant.describe('When the hour or day begins, in UTC'),
        kind: z.string(),
        outcome: z.enum(['OK', 'ERROR']),
        reason: z.string().nullable().describe('Of those that failed'),
        ended: z.int(),
      }),
    ),
  }),
  async answer({ db }, { from, to = new Date(), step, kind }) {
    const range = { from: from ?? new Date(to.getTime() - DAY_MS), to, step };
    const counts = await readTaskCounts(db, kind === undefined ? range : { ...range, kind });
    return {
      items: counts.map(({ failureReason: reason, ...count }) => Object.assign(count, { reason })),
    };
  },
});
