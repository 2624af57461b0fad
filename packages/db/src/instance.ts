import { storable } from '@paddock/domain/text/storable';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from './schema/tables.ts';
import type { MatchingSettings } from '@paddock/domain/matching/matching-settings';
import { valuesOf } from '@paddock/runtime/rules';
import { VERSION } from '@paddock/runtime/version';
import { dbRules, matchingRules } from './rules.ts';
import { SCHEMA_VERSION } from './schema-version.ts';

/** The id of this environment. Others may share its organisation, namespace or cluster. */
export const findInstance = async (db: Db): Promise<string> => (await find(db)).instance_id;

/** When this environment was made. */
export const findMadeAt = async (db: Db): Promise<Date> => (await find(db)).created_at;

const find = (db: Db) =>
  db.selectFrom('instance').select(['instance_id', 'created_at']).executeTakeFirstOrThrow();

/** Keeps the Apps of this scheduler for people's questions, whose services know none. */
export async function saveAppIds(db: Db, appIds: readonly number[]): Promise<void> {
  await db
    .updateTable('instance')
    .set({ app_ids: JSON.stringify(appIds) })
    .execute();
}

/** For a WHERE: this row's App is in the configuration, as far as a scheduler has said which are. */
export const IS_CONFIGURED = sql<boolean>`coalesce((select app_ids @> to_jsonb(app_id) from instance), true)`;

/** The services whose life people are told of. The console answers for itself. */
export type WatchedService = 'ingress' | 'scheduler' | 'reconciler';

const SECONDS = sql`extract(epoch from now())::float8`;

/** Within the hour. A wrong clock of PostgreSQL may have noted an instant that lies ahead. */
const isRecent = (last: RawBuilder<unknown>) =>
  sql`(${last} between ${SECONDS} - 3600 and ${SECONDS} + 60)`;

/** A file may have hundreds of mistakes. */
const LONGEST_REFUSAL = 1_000;

/**
 * Notes that a process of this service lives, its version, and why it refuses a changed file;
 * replicas of a version share a note.
 */
export async function noteLife(
  db: Db,
  service: WatchedService,
  { version = VERSION, refusal }: { version?: string; refusal?: string | undefined } = {},
): Promise<void> {
  const refused = refusal === undefined ? null : storable(refusal.slice(0, LONGEST_REFUSAL));
  const column = `${service}_seen_at` as const;
  const own = `${service} ${version}`;
  const last = sql`(versions -> ${own}::text ->> 'last')::float8`;
  await db
    .updateTable('instance')
    .set({
      [column]: sql`now()`,
      versions: sql`(
        select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(versions) where ${isRecent(sql`(value ->> 'last')::float8`)}
      ) || jsonb_build_object(${own}::text, jsonb_build_object('last', ${SECONDS}, 'schema', ${SCHEMA_VERSION}::integer, 'refused', ${refused}::text,
        'since', case when ${isRecent(last)} then versions -> ${own}::text -> 'since' else to_jsonb(${SECONDS}) end))`,
    })
    .where(
      sql<boolean>`(coalesce(${sql.ref(column)} < now() - interval '5 seconds', true) or coalesce(${last} not between ${SECONDS} - 5 and ${SECONDS} + 60, true)
        or versions -> ${own}::text ->> 'refused' is distinct from ${refused}::text)`,
    )
    .execute();
}

/** As the scheduler that started last matches; undefined: none has started yet. */
export async function findMatchingSettings(db: Db): Promise<MatchingSettings | undefined> {
  const row = await db.selectFrom('instance').select('app_ids').executeTakeFirst();
  const appIds = row?.app_ids ?? undefined;
  return appIds && { appIds, ...matchingRules(valuesOf(dbRules)) };
}
