import { exactText, isOnPage, type PageOfTime } from '@paddock/db/people/newest-first';
import type { TaskFailure } from '@paddock/db/schema/queue-tables';
import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type FailedFilter, isFailed } from './handle-failed.ts';

/** A task as people see it, from enqueue to expiry. */
export interface Operation {
  id: string;
  kind: string;
  origin: 'MANUAL' | 'AUTOMATIC';
  status: 'QUEUED' | 'RUNNING' | 'OK' | 'ERROR';
  subject: { type: string; id: string; name: string | null };
  requestedBy: string | null;
  attempt: number;
  maxAttempts: number;
  queuedAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
  /** When a queued task runs next. */
  nextRunAt: Date | null;
  output: unknown;
  /** Why it failed, or how the last run of an unfinished task failed. */
  failure: { reason: string; message: string } | null;
  /**
   * Who had a failed one repeated, as the operation `retriedAs`, or (null) discarded it; and when, as
   * PostgreSQL writes it into JSON.
   */
  handled: { by: string; at: string; retriedAs: string | null } | null;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

// SQL: operations as `Operation` has them, of unfinished tasks and of ended ones.
const COMMON =
  sql.raw(`id, kind, origin, attempt, requested_by as "requestedBy", max_attempts as "maxAttempts",
  jsonb_build_object('type', subject_type, 'id', subject_id, 'name', subject_name) as subject,
  queued_at as "queuedAt", started_at as "startedAt"`);
const UNFINISHED = sql`
  select ${COMMON}, upper(status) as status, null::timestamptz as "finishedAt", case status when 'queued' then due_at end as "nextRunAt",
    null::jsonb as output, (failures -> -1) - 'attempt' - 'at' as failure, null::jsonb as handled
  from tasks`;
const ended = (output: RawBuilder<unknown>) => sql`
  select ${COMMON}, status, finished_at as "finishedAt", null::timestamptz as "nextRunAt", ${output} as output,
    case when failure_reason is not null then
      jsonb_build_object('reason', failure_reason, 'message', coalesce(failure_message, '')) end as failure,
    case when handled_at is not null then
      jsonb_build_object('by', handled_by, 'at', handled_at, 'retriedAs', retried_as) end as handled
  from operations`;

/** All that is known of one operation. */
export interface FoundOperation extends Operation {
  readonly failures: TaskFailure[];
}

/** The operation of this id, or undefined if there is none or it has expired. */
export async function findOperation(
  db: Kysely<Database>,
  id: string,
): Promise<FoundOperation | undefined> {
  if (!UUID.test(id)) return undefined;
  // One statement, so one snapshot: between two statements the task could move and be in neither.
  const { rows } = await sql<FoundOperation>`
    select found.*, failures.failures from (
      ${UNFINISHED} where id = ${id} union all ${ended(sql`output`)} where id = ${id} and expires_at > now()
    ) found cross join lateral (
      select failures from tasks where id = found.id union all select failures from operations where id = found.id
    ) failures`.execute(db);
  return rows[0];
}

/** Where a list goes on: behind this instant, as PostgreSQL prints it, and this id. */
export type OperationPosition = readonly [at: string, id: string];

export interface OperationsPage {
  readonly limit: number;
  readonly after?: OperationPosition | undefined;
}

/** A row of a list has its position. It has output and failed runs only if they are asked for. */
export interface ListedOperation extends Operation {
  readonly position: OperationPosition;
  readonly failures?: TaskFailure[] | undefined;
}

/**
 * All operations of a subject, newest first: queued, running and ended ones. `hasDetail`: with their
 * output and failed runs, which may be long.
 */
export async function listOperationsOf(
  db: Kysely<Database>,
  subject: { readonly type: string; readonly id: string },
  { limit, after, hasDetail = false }: OperationsPage & { readonly hasDetail?: boolean },
): Promise<ListedOperation[]> {
  const isMeant = sql`subject_id = ${subject.id} and subject_type = ${subject.type}${after === undefined ? sql`` : sql` and (queued_at, id) < (${after[0]}::timestamptz, ${after[1]}::uuid)`}`;
  const newest = sql`order by "queuedAt" desc, id desc limit ${limit}`;
  const failures = sql`, (select failures from tasks t where t.id = found.id union all select failures from operations o where o.id = found.id limit 1) as failures`;
  const { rows } = await sql<Listed>`
    select *, "queuedAt"::text as at${hasDetail ? failures : sql``} from (
      ${UNFINISHED} where status = 'queued' and ${isMeant}
      union all ${UNFINISHED} where status = 'running' and ${isMeant}
      union all (${ended(hasDetail ? sql`output` : sql`null::jsonb`)} where ${isMeant} and expires_at > now() ${newest})
    ) found ${newest}`.execute(db);
  return rows.map(toListed);
}

/** Failed operations that nobody has dealt with, the one that ended last first. */
export async function listFailedOperations(
  db: Kysely<Database>,
  { limit, after, ...filter }: OperationsPage & FailedFilter,
): Promise<ListedOperation[]> {
  const { rows } = await sql<Listed>`
    select *, "finishedAt"::text as at from (
      ${ended(sql`null::jsonb`)}
      where ${isFailed(filter)}${after === undefined ? sql`` : sql` and (finished_at, id) < (${after[0]}::timestamptz, ${after[1]}::uuid)`}
      order by finished_at desc, id desc limit ${limit}
    ) failed`.execute(db);
  return rows.map(toListed);
}

/** Unfinished tasks are few. An operation has its entity in its row. */
const ofEntity = (entityId: number) => sql`case subject_type
  when 'worker' then exists (select from workers w where w.pod_name = subject_id and w.entity_id = ${entityId})
  when 'key' then exists (select from demand_keys d where d.demand_key::text = subject_id and d.entity_id = ${entityId})
  when 'repository' then exists (
    select from installations i where i.entity_id = ${entityId} and lower(i.login) = lower(split_part(subject_id, '/', 1)))
  when 'installation' then exists (
    select from installations i where i.entity_id = ${entityId} and i.installation_id::text = subject_id)
  else false end`;

/**
 * The operations of an entity's workers, keys, repositories and installations, in the order of
 * their enqueuing, the newest first.
 */
export async function listEntityOperations(
  db: Kysely<Database>,
  entityId: number,
  page: PageOfTime<string>,
): Promise<ListedOperation[]> {
  const onPage = isOnPage({ id: sql`id`, idType: sql`uuid` }, page, sql`queued_at`);
  const newest = sql`order by "queuedAt" desc, id desc limit ${page.limit}`;
  const { rows } = await sql<Listed>`
    select *, ${exactText(sql`"queuedAt"`)} as at from (
      (${UNFINISHED} where ${onPage} and ${ofEntity(entityId)} ${newest})
      union all
      (${ended(sql`null::jsonb`)} where entity_id = ${entityId} and expires_at > now() and ${onPage} ${newest})
    ) found ${newest}`.execute(db);
  return rows.map(toListed);
}

/** `at`: the instant of its place in the list. */
type Listed = Omit<ListedOperation, 'position'> & { readonly at: string };

const toListed = ({ at, ...row }: Listed): ListedOperation => ({ ...row, position: [at, row.id] });
