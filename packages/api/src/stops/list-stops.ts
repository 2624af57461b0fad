import { listStops } from '@paddock/db/people/list-stops';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { after, limit, pageOf, rowsToRead, toPage } from '../lists/page.ts';
import { stopRow, toStopRow } from './stop.ts';

export const listStopsEndpoint = endpoint({
  name: 'listStops',
  method: 'GET',
  path: '/api/v1/stops',
  summary: 'Lists what people hold back now, the oldest first, with who, since when and why.',
  access: 'read',
  status: 200,
  input: z.object({ limit, after: after(z.tuple([z.string().max(40), z.string(), z.string()])) }),
  output: pageOf(stopRow),
  answer: async ({ db }, input) =>
    toPage(
      await listStops(db, { ...input, limit: rowsToRead(input.limit) }),
      input.limit,
      ({ position }) => position,
      toStopRow,
    ),
});
