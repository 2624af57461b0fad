import type { Database } from '@paddock/db/schema/tables';
import { type Kysely, sql } from 'kysely';
import { githubId } from '../lists/whole.ts';
import { notFound, wrong } from '../problem.ts';

/** The input `app`: an App's id. */
export const app = githubId().describe('An App’s id');

/** Rejects with a Problem if the reconciler has never been configured with this App. */
export async function requireApp(db: Kysely<Database>, appId: number): Promise<void> {
  const known = await findScheduledApps(db);
  if (!known.includes(appId))
    throw notFound(
      `The reconciler does not know the App ${appId}. It knows ${known.join(', ') || 'none'}.`,
    );
}

/** The App that is meant: the only one, if none is named. Rejects with a Problem. */
export async function meantApp(db: Kysely<Database>, given: number | undefined): Promise<number> {
  if (given !== undefined) {
    await requireApp(db, given);
    return given;
  }
  const known = await findScheduledApps(db);
  const [only] = known;
  if (only === undefined || known.length > 1)
    throw wrong(`Name the App in \`app\`. The reconciler knows ${known.join(', ') || 'none'}.`);
  return only;
}

/** The Apps whose delivery log the reconciler reads, or has read: each has a schedule. */
export async function findScheduledApps(db: Kysely<Database>): Promise<number[]> {
  const { rows } = await sql<{ appId: number }>`
    select split_part(name, ':', 2)::bigint as "appId" from schedules where name ~ '^redeliver:[0-9]+$' order by 1`.execute(
    db,
  );
  return rows.map(({ appId }) => appId);
}
