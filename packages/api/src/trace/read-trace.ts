import { exactText, isOnPage, type PageOfTime, type Position } from '@paddock/db/newest-first';
import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';
import { listEntityActions } from '../actions/list-actions.ts';
import type { Caller } from '../endpoint.ts';
import { listJobs } from '../jobs/list-jobs.ts';
import { type Placed, rowsToRead } from '../lists/page.ts';
import {
  ended,
  type ListedOperation,
  type OperationRow,
  toListed,
  unfinished,
} from '../operations/operation.ts';
import { listWorkers } from '../workers/list-workers.ts';
import { listEntityEvents } from '../events/event.ts';
import type { Traced } from './find-traced.ts';
import {
  actionItem,
  eventItem,
  jobItem,
  type Kind,
  KINDS,
  operationItem,
  workerItem,
} from './trace-item.ts';
import { byPosition, type TraceInput, type Traceable, type TracePosition } from './trace-page.ts';

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
export async function listEntityOperations(
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
