import { exactText, isOnPage, type PageOfTime, type Position } from '@paddock/db/newest-first';
import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';
import { listEntityActions } from '../actions/list-actions.ts';
import type { Caller } from '../endpoint.ts';
import { listJobs } from '../jobs/list-jobs.ts';
import { type Placed, rowsToRead, toPage } from '../lists/page.ts';
import {
  ended,
  type ListedOperation,
  type OperationRow,
  toListed,
  unfinished,
} from '../operations/operation.ts';
import {
  listWorkers,
  WORKER_COLUMNS,
  WORKER_TIMELINE,
  type WorkerRow,
} from '../workers/workers.ts';
import { listEntityEvents, listJobEvents } from '../events/events.ts';
import type { Traced, TracedJob } from './find-traced.ts';
import {
  actionItem,
  byPosition,
  eventItem,
  jobItem,
  type Kind,
  KINDS,
  operationItem,
  type Traceable,
  type TraceInput,
  type TracePosition,
  workerItem,
} from './trace-page.ts';
import type { z } from 'zod';
import { JOB_COLUMNS, JOB_TIMELINE, type JobRow, WAITED_KEY } from '../jobs/job.ts';
import type { timeline } from '../lists/dates.ts';
import { listOperationsOf } from '../operations/list-operations.ts';

/** Reads what happened to an entity, the newest first: one row more than the page shows. */
export async function readTrace(
  { db }: Caller,
  { entity, places }: Traced,
  input: TraceInput,
): Promise<Traceable[]> {
  const entityId = entity?.id;
  const placed: Traceable[] = [];
  for (const kind of KINDS) {
    if (input.kind !== undefined && input.kind !== kind) continue;
    placed.push(...(await readKind(kind)));
  }
  return placed.toSorted(byPosition).slice(0, rowsToRead(input.limit));

  async function readKind(kind: Kind): Promise<Traceable[]> {
    if (kind === 'event') {
      const page = pageOfKind(kind, input, IDS.number);
      const events = await listEntityEvents(db, { entityId: entityId ?? null, places }, page);
      return place(kind, events, eventItem);
    }
    if (entityId === undefined) return [];
    switch (kind) {
      case 'job': {
        const page = numbered(pageOfKind(kind, input, IDS.number));
        return place(kind, await listJobs(db, { entityId }, page), (row) => jobItem(row));
      }
      case 'worker': {
        const page = pageOfKind(kind, input, IDS.name);
        return place(kind, await listWorkers(db, { entityId }, page), (row) => workerItem(row));
      }
      case 'operation': {
        const page = pageOfKind(kind, input, IDS.uuid);
        return place(kind, await listEntityOperations(db, entityId, page), operationItem);
      }
      case 'action': {
        const page = numbered(pageOfKind(kind, input, IDS.number));
        return place(kind, await listEntityActions(db, entityId, page), actionItem);
      }
      default:
        return kind satisfies never;
    }
  }
}

const place = <T extends object>(
  kind: Kind,
  rows: readonly Placed<T, Position<number | string>>[],
  toItem: (row: Omit<Placed<T>, 'position'>) => Traceable['item'],
): Traceable[] =>
  rows.map(({ position: [at, id], ...row }) => ({
    item: toItem(row),
    position: [at, KINDS.indexOf(kind), String(id)],
  }));

/** Before and behind all ids of a kind. */
interface Ends {
  readonly first: string;
  readonly last: string;
}

const IDS = {
  number: { first: '0', last: String(Number.MAX_SAFE_INTEGER) },
  uuid: {
    first: '00000000-0000-0000-0000-000000000000',
    last: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  },
  // Workers come first of their instant: a page never begins behind all of them.
  name: { first: '', last: '' },
} satisfies Readonly<Record<string, Ends>>;

/**
 * The rows of one kind behind the place where the page before ended. Of that instant, the kinds
 * before have been shown, and those behind have not.
 */
function pageOfKind(
  kind: Kind,
  { limit, after, from, to }: TraceInput,
  ends: Ends,
): PageOfTime<string> {
  const page = { limit: rowsToRead(limit), from, to };
  return after === undefined ? page : { ...page, after: startOf(KINDS.indexOf(kind), after, ends) };
}

function startOf(kind: number, [at, reached, id]: TracePosition, ends: Ends): Position<string> {
  if (kind === reached) return [at, id];
  return [at, kind < reached ? ends.first : ends.last];
}

const numbered = ({ after, ...page }: PageOfTime<string>): PageOfTime<number> =>
  after === undefined ? page : { ...page, after: [after[0], Number(after[1])] };

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
async function listEntityOperations(
  db: Kysely<Database>,
  entityId: number,
  page: PageOfTime<string>,
): Promise<ListedOperation[]> {
  const onPage = isOnPage({ id: sql`id`, idType: sql`uuid` }, page, sql`queued_at`);
  const newest = sql`order by "queuedAt" desc, id desc limit ${page.limit}`;
  const { rows } = await sql<OperationRow & { at: string }>`
    select *, ${exactText(sql`"queuedAt"`)} as at from (
      (${unfinished()} where ${onPage} and ${ofEntity(entityId)} ${newest})
      union all
      (${ended()} where entity_id = ${entityId} and expires_at > now() and ${onPage} ${newest})
    ) found ${newest}`.execute(db);
  return toListed(rows);
}

/** Each kind of a job's own rows: far above what any job has. */
const MOST = 1_000;

interface Happened {
  readonly timeline: z.output<typeof timeline>;
}

/** Reads what happened to a job and its worker, every instant of their rows, the newest first. */
export async function readJobTrace(
  { db }: Caller,
  { jobId, entityId, podName }: TracedJob,
  input: TraceInput,
): Promise<Traceable[]> {
  const page = { limit: MOST, after: undefined };
  const { rows: jobs } = await sql<JobRow & Happened>`
    select ${JOB_COLUMNS}, ${JOB_TIMELINE} as timeline from jobs j ${WAITED_KEY} where j.job_id = ${jobId}`.execute(
    db,
  );
  const { rows: workers } = await sql<WorkerRow & Happened>`
    select ${WORKER_COLUMNS}, ${WORKER_TIMELINE} as timeline from workers w where w.pod_name = ${podName}`.execute(
    db,
  );
  const operations =
    podName === null ? [] : await listOperationsOf(db, { type: 'worker', id: podName }, page);
  const actions = entityId === null ? [] : await listEntityActions(db, entityId, page);
  const all = [
    ...toPage(await listJobEvents(db, jobId, page), MOST).items.map((row) =>
      positioned(eventItem(row), row.id),
    ),
    ...jobs.flatMap(({ timeline: happened, ...row }) =>
      happened.map(({ at, what }) => positioned(jobItem(row, what, at), what)),
    ),
    ...workers.flatMap(({ timeline: happened, ...row }) =>
      happened.map(({ at, what }) => positioned(workerItem(row, what, at), what)),
    ),
    ...toPage(operations, MOST).items.map((row) => positioned(operationItem(row), row.id)),
    ...toPage(actions, MOST)
      .items.filter(({ subject }) => subject['job'] === jobId || subject['worker'] === podName)
      .map((row) => positioned(actionItem(row), String(row.id))),
  ];
  return choose(all, input);
}

const positioned = (item: Traceable['item'], id: string): Traceable => ({
  item,
  position: [item.at, KINDS.indexOf(item.kind), id],
});

function choose(
  placed: readonly Traceable[],
  { kind, from, to, after, limit }: TraceInput,
): Traceable[] {
  const isMeant = (one: Traceable): boolean =>
    (kind === undefined || one.item.kind === kind) &&
    (from === undefined || one.item.at >= from.toISOString()) &&
    (to === undefined || one.item.at < to.toISOString()) &&
    (after === undefined || byPosition(one, { ...one, position: after }) > 0);
  return placed.filter(isMeant).toSorted(byPosition).slice(0, rowsToRead(limit));
}
