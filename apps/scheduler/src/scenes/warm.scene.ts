import { examplePools, putInstallation, putPools } from '@paddock/testing/demand-rows';
import { minutesAgo } from '@paddock/testing/worker-rows';
import { useMatchingDatabase } from './matching.scene.ts';

export const ACME = 90_000_001;
export const SAM = 90_000_002;

/** A database for the tests of warm workers, and changes to its rows. */
export function useWarmDatabase() {
  const testDb = useMatchingDatabase();
  const install = (
    login: string,
    entityId: number,
    entityType: 'Organization' | 'User' = 'Organization',
  ) =>
    putInstallation(testDb.db, {
      entity_id: entityId,
      entity_type: entityType,
      login,
      installation_id: entityId + 1,
    });

  const keep = (scope: string, workers: number, given: Parameters<typeof examplePools>[0] = {}) =>
    putPools(
      testDb.db,
      examplePools({
        ...given,
        pools: [
          { ...given.pools?.[0], warm: [{ scope, workers }] },
          ...(given.pools?.slice(1) ?? []),
        ],
      }),
    );

  const workers = () =>
    testDb.db.selectFrom('workers').selectAll().orderBy('created_at').orderBy('pod_name').execute();
  /** As if every reservation had begun to run `minutes` ago. */
  const run = (minutes = 0) => {
    const at = minutesAgo(minutes);
    return testDb.db
      .updateTable('workers')
      .set({
        status: 'running',
        registration_started_at: at,
        registered_at: at,
        running_at: at,
        pod_uid: 'uid',
      })
      .where('status', '=', 'pending')
      .execute();
  };
  const end = (podName: string | undefined) =>
    testDb.db
      .updateTable('workers')
      .set({ status: 'completed', completed_at: new Date() })
      .where('pod_name', '=', podName ?? '')
      .execute();

  return {
    install,
    keep,
    workers,
    run,
    end,
    get db() {
      return testDb.db;
    },
  };
}
