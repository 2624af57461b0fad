import {
  allOf,
  has,
  newestOf,
  newestOfFew,
  newestRows,
  type PageOfTime,
  type Position,
  readListed,
} from '@paddock/db/newest-first';
import type { Database } from '@paddock/db/schema/tables';
import { LIVE } from '@paddock/db/states/worker-states';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { dates } from '../lists/dates.ts';
import { entity, entityIdOf, ofKnownPool, pool as poolName } from '../lists/named.ts';
import { after, limit, pageOf, type Placed, rowsToRead, toPage } from '../lists/page.ts';
import { WORKER_COLUMNS, workerRow, type WorkerRow } from './worker.ts';

export const listWorkersEndpoint = endpoint({
  name: 'listWorkers',
  method: 'GET',
  path: '/api/v1/workers',
  summary: 'Lists workers, newest first, by the time of their reservation.',
  access: 'read',
  status: 200,
  input: z.object({
    state: workerRow.shape.state
      .optional()
      .describe('A stopping worker is neither pending nor running; `ended` means well'),
    entity,
    pool: poolName,
    ...dates,
    limit,
    after: after(z.tuple([z.iso.datetime(), z.string().max(100)])),
  }),
  output: pageOf(workerRow),
  async answer(caller, { state, pool, ...given }) {
    const filter = { entityId: await entityIdOf(caller, given.entity), pool, state };
    const rows = listWorkers(caller.db, filter, { ...given, limit: rowsToRead(given.limit) });
    return toPage(await ofKnownPool(caller, pool, rows), given.limit);
  },
});

interface Place {
  readonly entityId?: number | undefined;
  readonly pool?: string | undefined;
}

type ListedWorker = Placed<WorkerRow, Position<string>>;

const WORKERS = {
  table: sql`workers`,
  id: sql`pod_name`,
  idType: sql`text`,
  columns: WORKER_COLUMNS,
  joined: sql`workers w using (pod_name)`,
  positionId: sql`w.pod_name`,
};

/** Workers, newest first. Those that live are few, so that every combination of them is fast. */
export function listWorkers(
  db: Kysely<Database>,
  { state, ...place }: Place & { readonly state?: WorkerRow['state'] | undefined },
  page: PageOfTime<string>,
): Promise<ListedWorker[]> {
  const isMeant = isAt(place);
  const alive = (isSo?: RawBuilder<unknown>) =>
    newestOfFew(WORKERS, allOf(LIVE, isMeant, isSo), page);
  const ended = (status?: 'completed' | 'failed') =>
    newestRows(WORKERS, allOf(sql`completed_at is not null`, isMeant, has('status', status)), page);
  switch (state) {
    case 'pending':
    case 'running':
      return readListed(db, WORKERS, alive(sql`status = ${state} and stopping_at is null`));
    case 'stopping':
      return readListed(db, WORKERS, alive(sql`stopping_at is not null`));
    case 'ended':
      return readListed(db, WORKERS, ended('completed'));
    case 'failed':
      return readListed(db, WORKERS, ended('failed'));
    case undefined:
      return readListed(db, WORKERS, newestOf(WORKERS, [alive(), ended()], page));
    default:
      return state satisfies never;
  }
}

/** SQL: whether a row of `workers` is one of these. */
const isAt = ({ entityId, pool }: Place): RawBuilder<boolean> =>
  allOf(has('entity_id', entityId), has('k8s_pool', pool));
