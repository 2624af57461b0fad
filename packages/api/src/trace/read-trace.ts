import { rowsOf } from '@paddock/db/rows';
import { textOf, tellAction } from '@paddock/domain/text/tell-action';
import { z } from 'zod';
import { exactText, isOnPage, type PageOfTime, type Position } from '@paddock/db/newest-first';
import type { Db } from '@paddock/db/schema/tables';
import { sql } from 'kysely';
import { dates, instantText } from '../lists/dates.ts';
import { pageInput, pageOf, type Placed } from '../lists/page.ts';
import { actionRow, type ActionRow, listEntityActions } from '../actions/list-actions.ts';
import { jobRow, type JobRow } from '../jobs/job.ts';
import { ended, operationRow, type OperationRow, unfinished } from '../operations/operation.ts';
import { listWorkers, workerRow, type WorkerRow } from '../workers/workers.ts';
import {
  type AppPlace,
  eventRow,
  type EventRow,
  listEntityEvents,
  meaningOf,
} from '../events/events.ts';
import type { Caller } from '../endpoint.ts';
import { listJobs } from '../jobs/list-jobs.ts';

/** Of one instant, the effect stands above its cause: in the order of these. */
const KINDS = ['worker', 'operation', 'job', 'event', 'action'] as const;

type Kind = (typeof KINDS)[number];

const common = { at: instantText, what: z.string().describe('What happened, in words') };

const traceItem = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('event'), ...common, event: eventRow }),
  z.object({ kind: z.literal('job'), ...common, job: jobRow }),
  z.object({ kind: z.literal('worker'), ...common, worker: workerRow }),
  z.object({ kind: z.literal('operation'), ...common, operation: operationRow }),
  z.object({ kind: z.literal('action'), ...common, action: actionRow }),
]);

type Item = z.output<typeof traceItem>;

const eventItem = (event: EventRow): Item => ({
  kind: 'event',
  at: event.receivedAt.toISOString(),
  what: `${event.event}: ${meaningOf(event)}`,
  event,
});

const jobItem = (job: JobRow): Item => ({
  kind: 'job',
  at: job.createdAt.toISOString(),
  what: 'stored by Paddock',
  job,
});

const workerItem = (worker: WorkerRow): Item => ({
  kind: 'worker',
  at: worker.createdAt.toISOString(),
  what: 'reserved',
  worker,
});

const operationItem = (operation: OperationRow): Item => ({
  kind: 'operation',
  at: operation.queuedAt.toISOString(),
  what: `${operation.kind} was queued${operation.requestedBy === null ? '' : ` by ${operation.requestedBy}`}, and is ${operation.status}`,
  operation,
});

const actionItem = (action: ActionRow): Item => ({
  kind: 'action',
  at: action.at.toISOString(),
  what: `${action.person} ${textOf(tellAction(action))}`,
  action,
});

/** A thing that happened, at its place: the instant with its microseconds, the kind, and the id. */
type Traced = Placed<{ readonly item: Item }, readonly [at: string, kind: number, id: string]>;

export const traceInput = {
  kind: z.enum(KINDS).optional().describe('Only what is of this kind'),
  ...dates,
  ...pageInput(
    z.tuple([
      z.iso.datetime(),
      z
        .int()
        .min(0)
        .max(KINDS.length - 1),
      z.string().max(100),
    ]),
  ),
};

type TraceInput = z.output<z.ZodObject<typeof traceInput>>;

export const traceAnswer = pageOf(traceItem).extend({
  entity: z
    .object({
      id: z.int(),
      login: z.string().nullable().describe('Null: no App of Paddock was seen on it'),
      formerly: z.array(z.string()).describe('Its logins before, the latest first'),
    })
    .nullable()
    .describe('Null: the rows name none'),
});

export interface Subject {
  readonly entity: z.output<typeof traceAnswer>['entity'];
  readonly places: readonly AppPlace[];
}

/** Reads what happened to an entity, the newest first: one row more than the page shows. */
export async function readTrace(
  { db }: Caller,
  subject: Subject,
  { kind: only, limit, after, from, to }: TraceInput,
): Promise<Traced[]> {
  const found: Traced[] = [];
  for (const kind of KINDS) {
    if (only !== undefined && only !== kind) continue;
    const page = { limit, from, to, after: after && startOf(kind, after) };
    found.push(...(await readKind(db, kind, subject, page)));
  }
  // The kinds are in their order, and each one's rows in theirs: this keeps both within an instant.
  const newest = found.toSorted(({ position: [a] }, { position: [b] }) => compare(b, a));
  return newest.slice(0, limit);
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

const NUMBERS = ['0', String(Number.MAX_SAFE_INTEGER)] as const;

/** Ids before and behind all those of a kind. */
const ENDS: Readonly<Record<Kind, readonly [first: string, last: string]>> = {
  // Workers come first of their instant: a page never begins behind all of them.
  worker: ['', ''],
  operation: ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
  job: NUMBERS,
  event: NUMBERS,
  action: NUMBERS,
};

/** Of the instant where the page before ended, the kinds before were shown, and those behind not. */
function startOf(kind: Kind, [at, reached, id]: Traced['position']): Position<string> {
  const nth = KINDS.indexOf(kind);
  if (nth === reached) return [at, id];
  return [at, ENDS[kind][nth < reached ? 0 : 1]];
}

function readKind(
  db: Db,
  kind: Kind,
  { entity, places }: Subject,
  page: PageOfTime<string>,
): Promise<Traced[]> {
  const entityId = entity?.id ?? null;
  if (kind === 'event')
    return place(kind, listEntityEvents(db, { entityId, places }, page), eventItem);
  if (entityId === null) return Promise.resolve([]);
  switch (kind) {
    case 'job':
      return place(kind, listJobs(db, { entityId }, page), jobItem);
    case 'worker':
      return place(kind, listWorkers(db, { entityId }, page), workerItem);
    case 'operation':
      return place(kind, listEntityOperations(db, entityId, page), operationItem);
    case 'action':
      return place(kind, listEntityActions(db, entityId, page), actionItem);
    default:
      return kind satisfies never;
  }
}

const place = async <T extends object>(
  kind: Kind,
  rows: Promise<Placed<T, Position<number | string>>[]>,
  toItem: (row: Omit<Placed<T>, 'position'>) => Item,
): Promise<Traced[]> =>
  (await rows).map(({ position: [at, id], ...row }) => ({
    item: toItem(row),
    position: [at, KINDS.indexOf(kind), String(id)],
  }));

/** Unfinished tasks are few. An operation has its entity in its row. */
const ofEntity = (entityId: number) => sql`case subject_type
  when 'worker' then exists (select from workers w where w.pod_name = subject_id and w.entity_id = ${entityId})
  when 'key' then exists (select from demand_keys d where d.demand_key::text = subject_id and d.entity_id = ${entityId})
  when 'repository' then exists (
    select from installations i where i.entity_id = ${entityId} and lower(i.login) = lower(split_part(subject_id, '/', 1)))
  when 'installation' then exists (
    select from installations i where i.entity_id = ${entityId} and i.installation_id::text = subject_id)
  else false end`;

/** Of an entity's workers, keys, repositories and installations, the newest first. */
async function listEntityOperations(
  db: Db,
  entityId: number,
  page: PageOfTime<string>,
): Promise<Placed<OperationRow, Position<string>>[]> {
  const onPage = isOnPage({ id: sql`id`, idType: sql`uuid` }, page, sql`queued_at`);
  const newest = sql`order by "queuedAt" desc, id desc limit ${page.limit}`;
  return rowsOf<Placed<OperationRow, Position<string>>>(db)`
    select *, json_build_array(${exactText(sql`"queuedAt"`)}, id) as position from (
      (${unfinished()} where ${onPage} and ${ofEntity(entityId)} ${newest})
      union all
      (${ended()} where entity_id = ${entityId} and expires_at > now() and ${onPage} ${newest})
    ) found ${newest}`;
}
