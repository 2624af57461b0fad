import { isoText } from '@paddock/db/newest-first';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { instant } from '../lists/dates.ts';
import type { Placed } from '../lists/page.ts';
import type { Database } from '@paddock/db/schema/tables';
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
      at: z.iso.datetime(),
      retriedAs: z.uuid().nullable().describe('The operation that repeats it; null: discarded'),
    })
    .nullable()
    .describe('What somebody made of a failed one'),
  failures: z
    .array(
      z.object({
        attempt: z.int(),
        at: z.iso.datetime({ offset: true }),
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
export const FAILURES: RawBuilder<unknown> = sql`(
  select failures from tasks t where t.id = found.id union all select failures from operations o where o.id = found.id limit 1)`;

/** A row at its place: behind this instant, as PostgreSQL prints it, and this id. */
export type ListedOperation<T extends object = OperationRow> = Placed<
  T,
  readonly [at: string, id: string]
>;

/** Rows as statements read them: `at` is the instant of the place. */
export const toListed = <T extends { readonly id: string }>(
  rows: readonly (T & { readonly at: string })[],
): ListedOperation<Omit<T, 'at'>>[] =>
  rows.map(({ at, ...row }) => Object.assign(row, { position: [at, row.id] as const }));

type Operation = z.output<typeof operation>;

export const findOperationEndpoint = endpoint({
  name: 'findOperation',
  method: 'GET',
  path: '/api/v1/operations/{operation}',
  summary: 'Finds an operation by its id, from its enqueuing until it expires.',
  access: 'read',
  status: 200,
  input: z.object({ operation: z.string().max(100) }),
  output: operation,
  answer: ({ db }, { operation: id }) => readOperation(db, id),
});

/** An operation with all that is known of it. Rejects with a Problem if there is none of this id. */
export async function readOperation(db: Kysely<Database>, id: string): Promise<Operation> {
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
  db: Kysely<Database>,
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
  db: Kysely<Database>,
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
