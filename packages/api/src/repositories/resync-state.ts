import { findResyncedAt } from '@paddock/db/people/find-by-name';
import { findStop } from '@paddock/db/people/list-stops';
import type { Database } from '@paddock/db/schema/tables';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { heldBack } from '../stops/stop.ts';

/** Whether a repository may be resynced, and when it was. */
export const resyncState = z.object({
  repository: z.string(),
  enabled: z.boolean(),
  disabled: heldBack.nullable().describe('By whom, since when and why'),
  finishedAt: z.iso
    .datetime()
    .nullable()
    .describe('When a resync last ended well; null: never since Paddock has known the repository'),
});

export async function readResyncState(
  db: Kysely<Database>,
  repository: string,
): Promise<z.input<typeof resyncState>> {
  const stop = await findStop(db, { what: 'resync', subject: `repository:${repository}` });
  const finishedAt = await findResyncedAt(db, repository);
  return {
    repository,
    enabled: stop === undefined,
    disabled:
      stop === undefined ? null : { by: stop.by, at: stop.at.toISOString(), note: stop.note },
    finishedAt: finishedAt?.toISOString() ?? null,
  };
}
