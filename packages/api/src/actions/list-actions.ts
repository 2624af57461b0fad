import { listActions, type RecordedAction } from '@paddock/db/people/actions';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { after, limit, pageOf, rowsToRead, toPage } from '../lists/page.ts';

/** A row of the audit. */
export const actionRow = z.object({
  id: z.int(),
  at: z.iso.datetime(),
  person: z.string().describe('A login where the command ran, or `token NAME`'),
  from: z.enum(['terminal', 'api']),
  endpoint: z.string(),
  subject: z
    .record(z.string(), z.union([z.string(), z.number()]))
    .describe('What it was done to, as {"token": "ci"}'),
  note: z.string().nullable(),
  operation: z.uuid().nullable().describe('The operation that it asked for'),
});

export const listActionsEndpoint = endpoint({
  name: 'listActions',
  method: 'GET',
  path: '/api/v1/actions',
  summary: 'Lists what people did, the newest first. These rows never change, nor expire.',
  access: 'read',
  status: 200,
  input: z.object({ limit, after: after(z.tuple([z.int()])) }),
  output: pageOf(actionRow),
  async answer({ db }, { limit: most, after: position }) {
    const rows = await listActions(db, { limit: rowsToRead(most), after: position?.[0] });
    return toPage(rows, most, (row) => [row.id], toActionRow);
  },
});

export const toActionRow = ({ at, ...row }: RecordedAction): z.input<typeof actionRow> => ({
  ...row,
  at: at.toISOString(),
});
