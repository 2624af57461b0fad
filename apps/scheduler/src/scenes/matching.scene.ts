import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@paddock/testing/database';
import { noteActiveRepositories } from '@paddock/db/jobs/repositories';
import { emptyTables } from '@paddock/testing/empty-tables';
import { putPools } from '@paddock/testing/demand-rows';
import type { Kysely } from 'kysely';
import type { MatchingSettings } from '@paddock/domain/matching/matching-settings';
import * as scheduler from '../matching/match.ts';
import type { Database } from '@paddock/db/schema/tables';
import { GATE } from './settings.scene.ts';

/** Wide enough for a busy machine. */
export const LIMITS = { lockTimeoutMs: 20_000, statementTimeoutMs: 20_000, idleTimeoutMs: 20_000 };

/** One pass with these settings; `given` has the differences. */
export const matchOnce = (db: Kysely<Database>, given: Partial<MatchingSettings> = {}) =>
  scheduler.matchOnce(db, { ...GATE, ...given }, LIMITS);

/** Passes until one makes no worker, as the scheduler does them. Returns how many were made. */
export async function matchAll(
  db: Kysely<Database>,
  given: Partial<MatchingSettings> = {},
): Promise<number> {
  let made = 0;
  for (;;) {
    const { reserved } = await matchOnce(db, given);
    if (reserved.length === 0) return made;
    made += reserved.length;
  }
}

/** For each pool with waiting jobs, the reason why no more workers are made. */
export const findReasons = async (db: Kysely<Database>): Promise<Record<string, string | null>> => {
  const keys = await db
    .selectFrom('demand_keys')
    .select(['k8s_pool', 'wait_reason'])
    .orderBy('k8s_pool')
    .execute();
  return Object.fromEntries(keys.map((key) => [key.k8s_pool, key.wait_reason]));
};

const TABLES = [
  'tasks',
  'outages',
  'jobs',
  'workers',
  'demand_keys',
  'wait_reason_changes',
  'installations',
  'pools_documents',
  'login_pins',
  'switches',
  'apps',
  'repositories',
] as const;

export async function emptyMatchingTables(db: Kysely<Database>): Promise<void> {
  await emptyTables(db, TABLES);
}

/** As discovery does: the repositories of the jobs that came since. */
export const noteRepositories = (db: Kysely<Database>): Promise<number> =>
  noteActiveRepositories(db, { activeMs: 86_400_000, everyMs: 300_000 });

/**
 * One database for the tests of a file. Before each of them it has no rows that matching
 * reads, and the given pools, if any, are in force.
 */
export function useMatchingDatabase(
  pools?: Parameters<typeof putPools>[1],
): Pick<TestDatabase, 'db' | 'url' | 'schema'> {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());
  beforeEach(async () => {
    await emptyMatchingTables(database.db);
    if (pools !== undefined) await putPools(database.db, pools);
  });
  return {
    get db() {
      return database.db;
    },
    get url() {
      return database.url;
    },
    get schema() {
      return database.schema;
    },
  };
}
