import { listSwitches } from '@paddock/db/switches';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { after, limit, pageOf, rowsToRead, toPage } from '../lists/page.ts';
import { switchRow, toHeld } from './switch.ts';

export const listSwitchesEndpoint = endpoint({
  name: 'listSwitches',
  method: 'GET',
  path: '/api/v1/switches',
  summary: 'Lists what people hold back now, the oldest first, with who, since when and why.',
  access: 'read',
  status: 200,
  input: z.object({ limit, after: after(z.tuple([z.string().max(40), z.string()])) }),
  output: pageOf(switchRow),
  answer: async ({ db }, input) =>
    toPage(
      await listSwitches(db, { ...input, limit: rowsToRead(input.limit) }),
      input.limit,
      ({ place, subject }) => [place, subject],
      ({ subject, name, ...row }) => ({ subject, name, ...toHeld({ subject, ...row }) }),
    ),
});
