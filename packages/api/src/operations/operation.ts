import { isoText, LONGEST_FAILURE } from '@paddock/db/newest-first';
import { rowOf } from '@paddock/db/rows';
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '@paddock/db/schema/tables';
import { isExpired } from '@paddock/queue/claim-tasks';
import { readTaskCounts } from '@paddock/queue/operations';
import { dates, instant, instantText } from '../lists/dates.ts';
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
  crashes: z.int().describe('How often the process that ran it went away'),
  queuedAt: instant,
  startedAt: instant.nullable(),
  finishedAt: instant.nullable(),
  nextRunAt: instant.nullable().describe('When a queued one runs next'),
  waitsFor: z.string().nullable().describe('What a queued one waits for, in words'),
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

export const operationRow = operation.omit({ output: true, failures: true, askers: true });

export type OperationRow = z.output<typeof operationRow>;

const COMMON =
  sql.raw(`id, kind, origin, attempt, crashes, requested_by as "requestedBy", max_attempts as "maxAttempts",
  jsonb_build_object('type', subject_type, 'id', subject_id, 'name', subject_name) as subject,
  queued_at as "queuedAt", started_at as "startedAt"`);

/** SQL over a row of tasks: one whose claim has expired runs no longer. */
export const STATUS = sql`case when status = 'running' and not ${isExpired} then 'RUNNING' else 'QUEUED' end`;

/** A process that lives takes a due task at once if a place of its kind is free. */
const SOON = sql`now() - interval '15 seconds'`;

/** SQL: no process that lives runs tasks of this kind, or it would have taken this one. */
export const IS_FORSAKEN = sql`due_at < ${SOON}
  and not exists (select from tasks other where other.kind = tasks.kind and other.status = 'running' and other.locked_until > now())
  and not exists (
    select from operations o where o.kind = tasks.kind and o.status in ('OK', 'ERROR') and o.finished_at > ${SOON})`;

const WAITS_FOR = sql`case
  when status = 'running' then case when ${isExpired} then 'another process to take it on: the one that ran it is gone' end
  when exists (select from tasks twin where twin.kind = tasks.kind and twin.subject_id = tasks.subject_id
    and twin.subject_type = tasks.subject_type and twin.status = 'running') then 'the one before it, which runs'
  when due_at > now() then coalesce('its next try: ' || left(failures -> -1 ->> 'message', ${LONGEST_FAILURE}), 'its time')
  when ${IS_FORSAKEN} then 'a living process: none runs tasks of this kind'
  else 'a free place among those of its kind' end`;

/** SQL: operations of unfinished tasks, with an output or without one. */
export const unfinished = (hasOutput = false) => sql`
  select ${COMMON}, ${STATUS} as status, null::timestamptz as "finishedAt", case ${STATUS} when 'QUEUED' then due_at end as "nextRunAt",
    ${WAITS_FOR} as "waitsFor", (failures -> -1) - 'attempt' - 'at' as failure, null::jsonb as handled${hasOutput ? sql`, null::jsonb as output` : sql``}
  from tasks`;

export const ended = (hasOutput = false) => sql`
  select ${COMMON}, status, finished_at as "finishedAt", null::timestamptz as "nextRunAt", null as "waitsFor",
    case when failure_reason is not null then
      jsonb_build_object('reason', failure_reason, 'message', coalesce(failure_message, '')) end as failure,
    case when handled_at is not null then
      jsonb_build_object('by', handled_by, 'at', ${isoText('handled_at')}, 'retriedAs', retried_as) end as handled${hasOutput ? sql`, output` : sql``}
  from operations`;

export const FAILURES: RawBuilder<unknown> = sql`(
  select failures from tasks t where t.id = found.id union all select failures from operations o where o.id = found.id limit 1)`;

type Operation = z.output<typeof operation>;

export const findOperationEndpoint = endpoint({
  name: 'findOperation',
  path: '/api/v1/operations/{operation}',
  summary: 'Finds an operation by its id, from its enqueuing until it expires.',
  input: z.object({ operation: z.string().max(100) }),
  output: operation,
  answer: ({ db }, { operation: id }) => readOperation(db, id),
});

/** Rejects with a Problem if there is none of this id. */
export async function readOperation(db: Db, id: string): Promise<Operation> {
  const found = await findOperation(db, id);
  if (found === undefined)
    throw notFound(
      'There is no operation of this id: it never existed, or it ended so long ago that its row was deleted.',
    );
  return { ...found, askers: await findAskers(db, found) };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export async function findOperation(
  db: Db,
  id: string,
): Promise<Omit<Operation, 'askers'> | undefined> {
  if (!UUID.test(id)) return undefined;
  // One statement, so one snapshot: between two statements the task could move and be in neither.
  return rowOf<Omit<Operation, 'askers'>>(db)`
    select found.*, ${FAILURES} as failures from (
      ${unfinished(true)} where id = ${id} union all ${ended(true)} where id = ${id} and expires_at > now()
    ) found`;
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
