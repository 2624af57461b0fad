import { beforeEach } from '@jest/globals';
import type { Database, Db } from '@paddock/db/schema/tables';
import { noteActiveRepositories } from '@paddock/db/jobs/repositories';
import { noteKeyFailure } from '@paddock/db/workers/failing-keys';
import { USUAL_FAILURE_RULES } from '@paddock/domain/matching/failure-classes';
import type { MatchingSettings } from '@paddock/domain/matching/matching-settings';
import { type GivenPools, putJob, putPools, putWorker } from '@paddock/testing/demand-rows';
import { emptyAll, useTestDatabase } from '@paddock/testing/use-test-database';
import type { UpdateObject } from 'kysely';
import * as scheduler from '../matching/match.ts';
import { GATE } from './settings.scene.ts';
import { waitsOf } from './waits.scene.ts';

/** Wide enough for a busy machine. */
const LIMITS = { lockTimeoutMs: 20_000, statementTimeoutMs: 20_000, idleTimeoutMs: 20_000 };

/** One pass with these settings; `given` has the differences. */
export const matchOnce = (db: Db, given: Partial<MatchingSettings> = {}) =>
  scheduler.matchOnce(db, { ...GATE, ...given }, LIMITS);

/** As discovery does: the repositories of the jobs that came since. */
export const noteRepositories = (db: Db): Promise<number> =>
  noteActiveRepositories(db, { activeMs: 86_400_000, discoverRepositoryEveryMs: 300_000 });

export const ACME = { entity_id: 90_000_001, entity_name: 'acme' };
export const GLOBEX = { entity_id: 90_000_002, entity_name: 'globex' };
export const HOOLI = { entity_id: 90_000_003, entity_name: 'hooli' };
export const ENDED = { status: 'failed', completed_at: new Date() } as const;

/**
 * One database for the tests of a file. Before each of them it has no rows that matching reads, and
 * the given pools, if any, are in force.
 */
export function useMatching(pools?: GivenPools) {
  const database = useTestDatabase();
  const empty = async (): Promise<void> => {
    await emptyAll(database.db);
    if (pools !== undefined) await putPools(database.db, pools);
  };
  beforeEach(empty);
  const match = (given: Partial<MatchingSettings> = {}) => matchOnce(database.db, given);
  const workers = () =>
    database.db
      .selectFrom('workers')
      .selectAll()
      .orderBy('created_at')
      .orderBy('pod_name')
      .execute();
  return {
    database,
    get db() {
      return database.db;
    },
    empty,
    match,
    /** Passes until one makes no worker, as the scheduler does them. Returns how many were made. */
    async matchAll(given: Partial<MatchingSettings> = {}): Promise<number> {
      let made = 0;
      for (let passes = 0; passes < 50; passes += 1) {
        const { reserved } = await match(given);
        if (reserved.length === 0) return made;
        made += reserved.length;
      }
      throw new Error('Each pass makes workers.');
    },
    async putJobs(count: number, given: Parameters<typeof putJob>[1] = {}): Promise<void> {
      for (let n = 0; n < count; n += 1) await putJob(database.db, given);
    },
    /** Failures of workers that have ended: as many as pause the key of the entity. */
    async fail(entity: object, failureClass = 'exit_code'): Promise<void> {
      const { db } = database;
      for (let n = 0; n < 3; n += 1) {
        const { pod_name: podName } = await putWorker(db, { ...entity, ...ENDED });
        const failure = { podName, failureClass, message: 'no' };
        await noteKeyFailure(db, failure, USUAL_FAILURE_RULES);
      }
    },
    pin: (login: string, entity_id: number) =>
      database.db.insertInto('login_pins').values({ login, entity_id }).execute(),
    get waits() {
      return waitsOf(database.db);
    },
    changeJobs: (set: UpdateObject<Database, 'jobs'>) =>
      database.db.updateTable('jobs').set(set).execute(),
    workers,
    alive: async () =>
      (await workers()).filter(({ status }) => status === 'pending' || status === 'running'),
    /** Of all workers, unless a name is given. */
    changeWorkers: (set: UpdateObject<Database, 'workers'>, podName?: string) =>
      database.db
        .updateTable('workers')
        .set(set)
        .$if(podName !== undefined, (update) => update.where('pod_name', '=', podName ?? ''))
        .execute(),
    /** Of each key with waiting jobs, by entity and pool: its unassigned workers, and its reason. */
    keys: async () =>
      (
        await database.db
          .selectFrom('demand_keys')
          .selectAll()
          .where('waiting', '>', 0)
          .orderBy('entity_name')
          .orderBy('k8s_pool')
          .orderBy('scope_repo_id')
          .execute()
      ).map((key) => [key.entity_name, key.k8s_pool, key.unassigned, key.wait_reason]),
  };
}
