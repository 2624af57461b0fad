import type { MatchingSettings } from '@paddock/domain/matching/matching-settings';
import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema/tables.ts';

/** Keeps the settings of this scheduler for people's questions: they have none of their own. */
export async function saveMatchingSettings(
  db: Kysely<Database>,
  settings: MatchingSettings,
): Promise<void> {
  await db
    .insertInto('matching_settings')
    .values({ settings: JSON.stringify(settings) })
    .onConflict((conflict) =>
      conflict
        .column('only_row')
        .doUpdateSet({ settings: (row) => row.ref('excluded.settings'), stored_at: sql`now()` }),
    )
    .execute();
}

/** Those of the scheduler that started last; undefined: none has started yet. */
export async function findMatchingSettings(
  db: Kysely<Database>,
): Promise<MatchingSettings | undefined> {
  const row = await db.selectFrom('matching_settings').select('settings').executeTakeFirst();
  return row?.settings;
}
