import { listLiveWorkers, listWorkers } from '@paddock/db/people/list-workers';
import { z } from 'zod';
import { type Caller, endpoint } from '../endpoint.ts';
import { dates } from '../lists/dates.ts';
import { entity, entityIdOf, ofKnownPool, pool as poolName } from '../lists/named.ts';
import { after, limit, pageOf, rowsToRead, toPage } from '../lists/page.ts';
import { toWorkerRow, workerRow } from './worker.ts';

const input = z.object({
  state: workerRow.shape.state
    .optional()
    .describe('A stopping worker is neither pending nor running; `ended` means well'),
  entity,
  pool: poolName,
  ...dates,
  limit,
  after: after(z.tuple([z.iso.datetime(), z.string().max(100)])),
});

export const listWorkersEndpoint = endpoint({
  name: 'listWorkers',
  method: 'GET',
  path: '/api/v1/workers',
  summary: 'Lists workers, newest first, by the time of their reservation.',
  access: 'read',
  status: 200,
  input,
  output: pageOf(workerRow),
  answer: async (caller, given) =>
    toPage(
      await ofKnownPool(caller, given.pool, read(caller, given)),
      given.limit,
      ({ position }) => position,
      toWorkerRow,
    ),
});

async function read(caller: Caller, { state, pool, from, to, ...given }: z.output<typeof input>) {
  const page = { limit: rowsToRead(given.limit), after: given.after, from, to };
  const filter = { entityId: await entityIdOf(caller, given.entity), pool };
  switch (state) {
    case 'pending':
    case 'running':
    case 'stopping':
      return listLiveWorkers(caller.db, { ...filter, state }, page);
    case 'ended':
      return listWorkers(caller.db, { ...filter, end: 'completed' }, page);
    case 'failed':
    case undefined:
      return listWorkers(caller.db, { ...filter, end: state }, page);
    default:
      return state satisfies never;
  }
}
