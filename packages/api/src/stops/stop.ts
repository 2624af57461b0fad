import { findStop, type Stop } from '@paddock/db/people/list-stops';
import type { Database } from '@paddock/db/schema/tables';
import type { Transaction } from 'kysely';
import { z } from 'zod';

/** By whom, since when and why something is held back. */
export const heldBack = z.object({
  by: z.string().describe('Who holds it back; of several that asked, the first'),
  at: z.iso.datetime(),
  note: z.string().nullable(),
});

/** As lists have it. */
export const stopRow = z.object({
  what: z.enum(['making', 'sweep', 'resync']),
  subject: z
    .string()
    .describe(
      '`environment`, `pool:NAME`, `entity:ID`; the name of a sweep, or `all`; `repository:OWNER/NAME`',
    ),
  name: z.string().nullable().describe('The login of an entity'),
  ...heldBack.shape,
});

/** The state of a switch. */
export const stopState = stopRow.pick({ what: true, subject: true }).extend({
  stopped: heldBack.nullable().describe('null: it goes on, unless another stop holds it back too'),
});

export const toStopRow = ({ at, ...stop }: Stop): z.input<typeof stopRow> => ({
  what: stop.what,
  subject: stop.subject,
  name: stop.name,
  by: stop.by,
  at: at.toISOString(),
  note: stop.note,
});

/** The state of a switch after it was turned. */
export async function readStopState(
  trx: Transaction<Database>,
  { what, subject }: Pick<Stop, 'what' | 'subject'>,
): Promise<z.input<typeof stopState>> {
  const stop = await findStop(trx, { what, subject });
  if (stop === undefined) return { what, subject, stopped: null };
  const { by, at, note } = toStopRow(stop);
  return { what, subject, stopped: { by, at, note } };
}
