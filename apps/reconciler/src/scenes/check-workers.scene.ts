import type { Database, Db } from '@paddock/db/schema/tables';
import type { Updateable } from 'kysely';
import { startSmallWorld } from '@paddock/simulators/scenes/small-world.scene';
import type { TestDatabase } from '@paddock/testing/database';
import { minutesAgo, putWorker } from '@paddock/testing/demand-rows';
import { emptyAll } from '@paddock/testing/use-test-database';
import {
  accountOf,
  type Given,
  outputOf,
  usualRunners,
  useScene,
  usualSweeps,
} from './sweep.scene.ts';
import { checkWorkers } from '../workers/check-workers.ts';

/**
 * Workers in the database and their runners at a simulated GitHub, for tests of the sweep that
 * checks them.
 */
async function startCheckScene(database: TestDatabase) {
  const { db } = database;
  await emptyAll(db);
  const world = await startSmallWorld();
  const { github, told, run } = usualSweeps(database, world);
  const { truth, register, play, stopRunners } = usualRunners(world, github);

  return {
    db,
    world,
    truth,
    told,
    sweep: async (given?: Given) => outputOf(await run(checkWorkers, given)),
    /** A worker whose pod runs for so long, with its runner registered, online, or neither. */
    async putRunning(
      minutes: number,
      runner: 'online' | 'registered' | 'none' = 'online',
      given: Parameters<typeof putWorker>[1] = {},
    ): Promise<string> {
      const isOfUser = given.entity_type === 'User';
      const { pod_name: podName } = await putWorker(db, {
        status: 'running',
        created_at: minutesAgo(minutes + 1),
        pod_created_at: minutesAgo(minutes),
        running_at: minutesAgo(minutes),
        registration_started_at: minutesAgo(minutes),
        registered_at: minutesAgo(minutes),
        pod_uid: `uid-${Math.random()}`,
        ...accountOf(world, isOfUser ? world.user : world.organization),
        ...given,
      });
      if (runner === 'none') return podName;
      const { jitConfig } = await register(podName, isOfUser);
      if (runner === 'online') await play(podName, jitConfig);
      return podName;
    },
    /** Changes one worker, or all. */
    set: (row: Updateable<Database['workers']>, podName?: string) =>
      db
        .updateTable('workers')
        .set(row)
        .$if(podName !== undefined, (query) => query.where('pod_name', '=', podName ?? ''))
        .execute(),
    row: (podName: string) =>
      db
        .selectFrom('workers')
        .selectAll()
        .where('pod_name', '=', podName)
        .executeTakeFirstOrThrow(),
    tasks: async () =>
      (
        await db
          .selectFrom('tasks')
          .select(['kind', 'subject_id', 'delivery_guid'])
          .orderBy('subject_id')
          .execute()
      ).map((task) => `${task.kind} ${task.subject_id}${task.delivery_guid ?? ''}`),
    async listCalls(): Promise<number> {
      const { calls } = await world.github.report();
      return (
        (calls['actions/list-self-hosted-runners-for-org'] ?? 0) +
        (calls['actions/list-self-hosted-runners-for-repo'] ?? 0)
      );
    },
    async stop(): Promise<void> {
      await stopRunners();
      await world.github.stop();
    },
  };
}

export const useCheckScene = (database: TestDatabase) => useScene(() => startCheckScene(database));

/** A worker whose pod was made `minutes` ago and has not started. Returns its name. */
export const putPending = async (db: Db, minutes: number, given = {}) =>
  (
    await putWorker(db, {
      created_at: minutesAgo(minutes + 5),
      pod_created_at: minutesAgo(minutes),
      pod_uid: `uid-${minutes}`,
      ...given,
    })
  ).pod_name;
