import { isoText } from '@paddock/db/newest-first';
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '@paddock/db/schema/tables';
import { type FailedFilter, isFailed, readTaskCounts } from '@paddock/queue/operations';
import { dates, instant, instantText } from '../lists/dates.ts';
import { pageInput, pageOf, type Placed, toPage } from '../lists/page.ts';
import { endpoint } from '../endpoint.ts';
import { notFound } from '../problem.ts';

/** A task as people see it, from the moment it is queued until it expires. */
export const operation = z.object({
  id: z.uuid(),
  kind: z.string(),
  origin: z.enum(['MANUAL', 'AUTOMATIC']),
  status: z.enum(['QUEUED', 'RUNNING', 'OK', 'ERROR']),
  subject: z.object({ type: z.string(), id: z.string(), name: z.string().nullable() }),
  requestedBy: z.string().nullable().describe('Who asked for it first; null: nobody did'),
  attempt: z.int().describe('How many runs have begun; a snoozed or aborted one does not count'),
  maxAttempts: z.int(),
  queuedAt: instant,
  startedAt: instant.nullable(),
  finishedAt: instant.nullable(),
  nextRunAt: instant.nullable().describe('When a queued one runs next'),
  output: z.unknown().describe('What it did; null until it has ended'),
  failure: z
    .object({ reason: z.string(), message: z.string() })
    .nullable()
    .describe('Why it failed, or how the last run of an unfinished one failed'),
  handled: z
    .object({
      by: z.string(),
      at: instantText,
      retriedAs: z.uuid().nullable().describe('The operation that repeats it; null: discarded'),
    })
    .nullable()
    .describe('What somebody made of a failed one'),
  failures: z
    .array(
      z.object({
        attempt: z.int(),
        at: instantText,
        reason: z.string(),
        message: z.string(),
      }),
    )
    .describe('Its runs that failed, were put off or broke off, the last ones'),
  askers: z
    .array(z.object({ person: z.string(), at: instant, note: z.string().nullable() }))
    .describe('Everybody who asked for it, in order: it serves all of them'),
});

/** As lists have it. */
export const operationRow = operation.omit({ output: true, failures: true, askers: true });

export type OperationRow = z.output<typeof operationRow>;

/** As a list of one subject's has it. */
export const listedOperation = operationRow.extend(
  operation.pick({ output: true, failures: true }).partial().shape,
);

const COMMON =
  sql.raw(`id, kind, origin, attempt, requested_by as "requestedBy", max_attempts as "maxAttempts",
  jsonb_build_object('type', subject_type, 'id', subject_id, 'name', subject_name) as subject,
  queued_at as "queuedAt", started_at as "startedAt"`);

/** SQL: operations of unfinished tasks, with an output or without one. */
export const unfinished = (hasOutput = false) => sql`
  select ${COMMON}, upper(status) as status, null::timestamptz as "finishedAt", case status when 'queued' then due_at end as "nextRunAt",
    (failures -> -1) - 'attempt' - 'at' as failure, null::jsonb as handled${hasOutput ? sql`, null::jsonb as output` : sql``}
  from tasks`;

/** The same of ended ones. */
export const ended = (hasOutput = false) => sql`
  select ${COMMON}, status, finished_at as "finishedAt", null::timestamptz as "nextRunAt",
    case when failure_reason is not null then
      jsonb_build_object('reason', failure_reason, 'message', coalesce(failure_message, '')) end as failure,
    case when handled_at is not null then
      jsonb_build_object('by', handled_by, 'at', ${isoText('handled_at')}, 'retriedAs', retried_as) end as handled${hasOutput ? sql`, output` : sql``}
  from operations`;

/** SQL: the failed runs of the operation `found`. */
const FAILURES: RawBuilder<unknown> = sql`(
  select failures from tasks t where t.id = found.id union all select failures from operations o where o.id = found.id limit 1)`;

/** A row at its place: behind this instant, as PostgreSQL prints it, and this id. */
export type ListedOperation<T extends object = OperationRow> = Placed<
  T,
  readonly [at: string, id: string]
>;

type Operation = z.output<typeof operation>;

export const findOperationEndpoint = endpoint({
  name: 'findOperation',
  path: '/api/v1/operations/{operation}',
  summary: 'Finds an operation by its id, from its enqueuing until it expires.',
  input: z.object({ operation: z.string().max(100) }),
  output: operation,
  answer: ({ db }, { operation: id }) => readOperation(db, id),
});

/** An operation with all that is known of it. Rejects with a Problem if there is none of this id. */
export async function readOperation(db: Db, id: string): Promise<Operation> {
  const found = await findOperation(db, id);
  if (found === undefined)
    throw notFound(
      'There is no operation of this id: it never existed, or it ended so long ago that its row was deleted.',
    );
  return { ...found, askers: await findAskers(db, found) };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The operation of this id, or undefined if there is none or it has expired. */
export async function findOperation(
  db: Db,
  id: string,
): Promise<Omit<Operation, 'askers'> | undefined> {
  if (!UUID.test(id)) return undefined;
  // One statement, so one snapshot: between two statements the task could move and be in neither.
  const { rows } = await sql<Omit<Operation, 'askers'>>`
    select found.*, ${FAILURES} as failures from (
      ${unfinished(true)} where id = ${id} union all ${ended(true)} where id = ${id} and expires_at > now()
    ) found`.execute(db);
  return rows[0];
}

/**
 * Everybody who asked for this operation, in order: also for one that was merged into it, as a
 * running task does with its successor when it has to run again.
 */
async function findAskers(
  db: Db,
  { id, kind, subject }: Pick<Operation, 'id' | 'kind'> & { subject: { type: string; id: string } },
): Promise<Operation['askers']> {
  const merged = db
    .selectFrom('operations')
    .select('id')
    .where('subject_id', '=', subject.id)
    .where('subject_type', '=', subject.type)
    .where('kind', '=', kind)
    .where(sql<boolean>`output ->> 'mergedInto' = ${id}`);
  return db
    .selectFrom('actions')
    .select(['person', 'acted_at as at', 'note'])
    .where('operation', '=', sql<string>`any (array(select ${id}::uuid union all ${merged}))`)
    .orderBy('id')
    .execute();
}

const page = { ...pageInput(z.tuple([z.string().max(40), z.uuid()])) };

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
  path: '/api/v1/operations',
  summary: 'Lists the operations of a subject, newest first: queued, running and ended ones.',
  input: z.object({ subject, detail, ...page }),
  output: pageOf(listedOperation),
  answer: async ({ db }, input) =>
    toPage(await listOperationsOf(db, input.subject, input), input.limit),
});

/**
 * All operations of a subject, newest first: queued, running and ended ones. `detail`: with their
 * output and failed runs, which may be long.
 */
async function listOperationsOf(
  db: Db,
  of: { readonly type: string; readonly id: string },
  { limit: most, after: last, detail: hasDetail }: Page & { readonly detail: boolean },
): Promise<ListedOperation<z.output<typeof listedOperation>>[]> {
  const isMeant = sql`subject_id = ${of.id} and subject_type = ${of.type}${last === undefined ? sql`` : sql` and (queued_at, id) < (${last[0]}::timestamptz, ${last[1]}::uuid)`}`;
  const newest = sql`order by "queuedAt" desc, id desc limit ${most}`;
  const { rows } = await sql<ListedOperation<z.output<typeof listedOperation>>>`
    select *, json_build_array("queuedAt"::text, id) as position${hasDetail ? sql`, ${FAILURES} as failures` : sql``} from (
      ${unfinished(hasDetail)} where status = 'queued' and ${isMeant}
      union all ${unfinished(hasDetail)} where status = 'running' and ${isMeant}
      union all (${ended(hasDetail)} where ${isMeant} and expires_at > now() ${newest})
    ) found ${newest}`.execute(db);
  return rows;
}

/** The filters of failed operations. */
export const failedFilter = {
  kind: z.string().max(100).optional().describe('Of this kind of task only'),
  ...dates,
};

export const listFailedOperationsEndpoint = endpoint({
  name: 'listFailedOperations',
  path: '/api/v1/failed-operations',
  summary:
    'Lists the failed operations that nobody has retried or discarded, the one that ended last first.',
  input: z.object({ ...failedFilter, ...page }),
  output: pageOf(operationRow),
  answer: async ({ db }, input) => toPage(await listFailedOperations(db, input), input.limit),
});

/** Failed operations that nobody has dealt with, the one that ended last first. */
async function listFailedOperations(
  db: Db,
  { limit: most, after: last, ...filter }: Page & FailedFilter,
): Promise<ListedOperation[]> {
  const { rows } = await sql<ListedOperation>`
    select *, json_build_array("finishedAt"::text, id) as position from (
      ${ended()}
      where ${isFailed(filter)}${last === undefined ? sql`` : sql` and (finished_at, id) < (${last[0]}::timestamptz, ${last[1]}::uuid)`}
      order by finished_at desc, id desc limit ${most}
    ) failed`.execute(db);
  return rows;
}

const DAY_MS = 86_400_000;

export const countOperationsEndpoint = endpoint({
  name: 'countOperations',
  path: '/api/v1/operations/counts',
  summary:
    'Counts the operations that ended, by kind, outcome and hour or day. Expiry does not change the counts, which are kept for 13 months.',
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
