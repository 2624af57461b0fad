import { listEntityActions } from '@paddock/db/people/actions';
import type { Traced } from '@paddock/db/people/find-traced';
import { listJobs } from '@paddock/db/people/list-jobs';
import { listEntityEvents } from '@paddock/db/people/list-trace-events';
import { listWorkers } from '@paddock/db/people/list-workers';
import type { PageOfTime, Position } from '@paddock/db/people/newest-first';
import { listEntityOperations } from '@paddock/queue/read-operations';
import type { Caller } from '../endpoint.ts';
import { rowsToRead } from '../lists/page.ts';
import {
  actionItem,
  eventItem,
  jobItem,
  type Kind,
  KINDS,
  operationItem,
  workerItem,
} from './trace-item.ts';
import { byPosition, type Placed, type TraceInput, type TracePosition } from './trace-page.ts';

/** Reads what happened to an entity, the newest first: one row more than the page shows. */
export async function readTrace(
  { db }: Caller,
  { entity, places }: Traced,
  input: TraceInput,
): Promise<Placed[]> {
  const entityId = entity?.id;
  const placed: Placed[] = [];
  for (const kind of KINDS) {
    if (input.kind !== undefined && input.kind !== kind) continue;
    placed.push(...(await readKind(kind)));
  }
  return placed.toSorted(byPosition).slice(0, rowsToRead(input.limit));

  async function readKind(kind: Kind): Promise<Placed[]> {
    if (kind === 'event') {
      const page = pageOfKind(kind, input, IDS.number);
      const events = await listEntityEvents(db, { entityId: entityId ?? null, places }, page);
      return events.map((row) => place(kind, row.position, eventItem(row)));
    }
    if (entityId === undefined) return [];
    switch (kind) {
      case 'job': {
        const jobs = await listJobs(
          db,
          { entityId },
          numbered(pageOfKind(kind, input, IDS.number)),
        );
        return jobs.map((row) => place(kind, row.position, jobItem(row)));
      }
      case 'worker': {
        const workers = await listWorkers(db, { entityId }, pageOfKind(kind, input, IDS.name));
        return workers.map((row) => place(kind, row.position, workerItem(row)));
      }
      case 'operation': {
        const page = pageOfKind(kind, input, IDS.uuid);
        const operations = await listEntityOperations(db, entityId, page);
        return operations.map((row) => place(kind, row.position, operationItem(row)));
      }
      case 'action': {
        const page = numbered(pageOfKind(kind, input, IDS.number));
        const actions = await listEntityActions(db, entityId, page);
        return actions.map(({ action, position }) => place(kind, position, actionItem(action)));
      }
      default:
        return kind satisfies never;
    }
  }
}

const place = (kind: Kind, [at, id]: Position<number | string>, item: Placed['item']): Placed => ({
  item,
  position: [at, KINDS.indexOf(kind), String(id)],
});

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
