import type { Database } from '@paddock/db/schema/tables';
import { DISCOVER_JOBS } from '@paddock/domain/tasks/sweep-names';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { instant } from '../lists/dates.ts';
import { readSwitch, switchState } from '../switches/switch.ts';
import { fullNameOf, repositoryPath } from './repository-path.ts';

export const findResyncEndpoint = endpoint({
  name: 'findResync',
  method: 'GET',
  path: '/api/v1/repositories/{owner}/{repository}/resync',
  summary: 'Tells whether a repository may be resynced, and when it last was.',
  access: 'read',
  status: 200,
  input: z.object(repositoryPath),
  output: switchState.extend({
    finishedAt: instant
      .nullable()
      .describe(
        'When a resync last ended well; null: never since Paddock has known the repository',
      ),
  }),
  async answer({ db }, path) {
    const fullName = fullNameOf(path);
    const finishedAt = await findResyncedAt(db, fullName);
    const state = await readSwitch(db, `${DISCOVER_JOBS}:${fullName}`);
    return { ...state, finishedAt };
  },
});

/** When a resync of the repository last ended well. Null: never, as far as the rows know. */
async function findResyncedAt(db: Kysely<Database>, fullName: string): Promise<Date | null> {
  const { rows } = await sql<{ at: Date | null }>`
    select max(resynced_at) as at from repositories where lower(full_name) = lower(${fullName})`.execute(
    db,
  );
  return rows[0]?.at ?? null;
}
