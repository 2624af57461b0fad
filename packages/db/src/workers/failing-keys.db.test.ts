import { beforeEach, describe, expect, test } from '@jest/globals';
import { USUAL_FAILURE_RULES } from '@paddock/domain/matching/failure-classes';
import { minutesAgo, putJob, putPools, putWorker } from '@paddock/testing/demand-rows';
import { NOT_ASSIGNED } from '@paddock/domain/workers/stop-reasons';
import { emptyTables, useTestDatabase } from '@paddock/testing/use-test-database';
import { untilBlocked } from '@paddock/testing/sessions';
import { sql } from 'kysely';
import { saveRunnerGroup } from '../matching/stored-rules.ts';
import {
  bindWorkers,
  forgetFailuresOfChangedPools,
  noteKeyFailure,
  noteKeySuccess,
} from './failing-keys.ts';

const database = useTestDatabase();
beforeEach(() => emptyTables(database.db, ['workers', 'jobs', 'demand_keys', 'runner_groups']));

type Given = Parameters<typeof putWorker>[1];

const note = (podName: string, failureClass: string, beganAt?: Date) =>
  noteKeyFailure(
    database.dbOf('scheduler'),
    { podName, failureClass, message: '', ...(beganAt && { beganAt }) },
    USUAL_FAILURE_RULES,
  );
const fail = async (failureClass: string, given?: Given, beganAt?: Date): Promise<string> => {
  const { pod_name: podName } = await putWorker(database.db, given);
  await note(podName, failureClass, beganAt);
  return podName;
};
const failTimes = async (times: number, failureClass: string, given?: Given): Promise<string> => {
  for (let n = 1; n < times; n += 1) await fail(failureClass, given);
  return fail(failureClass, given);
};
const keys = () =>
  database.db
    .selectFrom('demand_keys')
    .select([
      'entity_id as entity',
      'failures',
      'pauses',
      'failure_class as of',
      sql<number>`round(extract(epoch from paused_until - failed_at))::integer`.as('pause'),
    ])
    .orderBy('entity_id')
    .execute();
const endPause = () =>
  database.db
    .updateTable('demand_keys')
    .set({ paused_until: minutesAgo(1), failed_at: minutesAgo(2) })
    .execute();
const bind = (podName: string) =>
  database
    .dbOf('ingress')
    .transaction()
    .execute((trx) => bindWorkers(trx, [{ worker: podName, jobId: 1 }]));

const review = (pool: string, repositories: string[], pauseMs?: number) =>
  saveRunnerGroup(database.dbOf('scheduler'), {
    entityId: 90_000_001,
    pool,
    name: 'review',
    access: {
      visibility: 'selected',
      allowsPublicRepositories: false,
      workflows: null,
      repositories,
    },
    excess: pauseMs === undefined ? undefined : 'lets in others',
    pauseMs,
  });

/** The key after failures of a class, and the proof that a pod was made. */
const afterProof = async (failed: string) => {
  await emptyTables(database.db, ['workers', 'demand_keys']);
  await failTimes(3, failed);
  const { pod_name: podName } = await putWorker(database.db, { registered_at: minutesAgo(-1) });
  await noteKeySuccess(database.dbOf('scheduler'), podName, 'pod_created');
  return keys();
};

describe('failures of a key’s workers before they have a job (C11)', () => {
  test('the third pauses the key, and no other key', async () => {
    await failTimes(2, 'pod_refused');
    expect(await keys()).toMatchObject([{ failures: 2, pauses: 0, pause: null }]);
    await fail('pod_refused');
    await fail('pod_refused', { entity_id: 90_000_002 });
    expect(await keys()).toMatchObject([
      { failures: 3, pauses: 1, pause: 30, of: 'pod_refused' },
      { failures: 1, pauses: 0, pause: null },
    ]);
    // One within the pause does not prolong it.
    await fail('pod_refused');
    expect(await keys()).toMatchObject([{ pauses: 1 }, { pauses: 0 }]);
  });

  // A table of the domain says how many failures a class allows, and how long it pauses.
  test.each([
    ['exit_code', 3, [30, 60, 120, 240, 480, 900, 900]],
    ['not_assigned', 2, [600, 1_200]],
  ])(
    '%s pauses after %i, and each failed trial doubles the pause: %j s',
    async (name, strikes, pauses) => {
      await failTimes(strikes, name);
      const seen = [];
      for (const _ of pauses) {
        seen.push((await keys())[0]?.pause);
        await endPause();
        await fail(name);
      }
      expect(seen).toEqual(pauses);
    },
  );

  test('a moment’s outage of GitHub counts once, however many workers it meets', async () => {
    for (let n = 0; n < 5; n += 1) await fail('github_error', {}, new Date(0));
    expect(await keys()).toMatchObject([{ failures: 1, pauses: 0 }]);
    await fail('github_error');
    expect(await keys()).toMatchObject([{ failures: 2 }]);
  });

  test('a proof ends the classes that the domain names with it, and no other', async () => {
    expect(await afterProof('image_pull')).toMatchObject([{ failures: 3, pauses: 1 }]);
    expect(await afterProof('pod_refused')).toMatchObject([
      { failures: 0, pauses: 0, of: null, pause: null },
    ]);
  });

  test('a start proves nothing that began before the last failure, unless the pod itself was stuck', async () => {
    await failTimes(3, 'image_pull');
    const { pod_name: podName } = await putWorker(database.db, { registered_at: minutesAgo(1) });
    await noteKeySuccess(database.db, podName, 'started');
    expect(await keys()).toMatchObject([{ failures: 3 }]);
    await noteKeySuccess(database.db, podName, 'started', 'image_pull');
    expect(await keys()).toMatchObject([{ failures: 0 }]);
  });

  test('a worker of the key that gets a job ends all of them, by the rights of ingress too', async () => {
    await failTimes(3, 'exit_code');
    await failTimes(3, 'exit_code', { entity_id: 90_000_002 });
    await bind((await putWorker(database.db)).pod_name);
    expect(await keys()).toMatchObject([{ failures: 0 }, { failures: 3 }]);
  });

  test('a failure waits for the transaction that binds its worker, and then counts nothing', async () => {
    const { pod_name: podName } = await putWorker(database.db);
    const binding = await database.db.startTransaction().execute();
    await bindWorkers(binding, [{ worker: podName, jobId: 1 }]);
    const failing = note(podName, 'exit_code');
    await untilBlocked(database.db);
    await binding.commit().execute();
    await failing;
    expect(await keys()).toEqual([]);
  });

  test('a failed worker whose job becomes known late did not fail before it had one', async () => {
    const podName = await failTimes(3, 'no_job');
    await bind(podName);
    expect(await keys()).toMatchObject([{ failures: 0 }]);
    await note(podName, 'no_job');
    expect(await keys()).toMatchObject([{ failures: 0 }]);
  });

  test('another access of the runner group ends that idle runners got no job', async () => {
    await review('linux', ['acme/web']);
    await failTimes(2, NOT_ASSIGNED);
    await failTimes(2, NOT_ASSIGNED, { entity_id: 90_000_002 });
    await review('linux', ['acme/web']);
    expect(await keys()).toMatchObject([{ failures: 2 }, { failures: 2 }]);
    await review('linux', ['acme/web', 'acme/api']);
    expect(await keys()).toMatchObject([{ failures: 0 }, { failures: 2 }]);
    await failTimes(3, 'image_pull');
    await review('linux', []);
    expect(await keys()).toMatchObject([{ failures: 3 }, { failures: 2 }]);
  });

  test('a change of the pool ends the rest of a runner group that lets in too much', async () => {
    const gpu = { name: 'gpu', labels: ['gpu'] };
    await putPools(database.db, { pools: [{}, gpu] });
    await review('linux', ['acme/web'], 900_000);
    await review('gpu', ['acme/web'], 900_000);
    await putPools(database.db, { pools: [{ image: 'another' }, gpu] });
    await forgetFailuresOfChangedPools(database.dbOf('scheduler'));
    const resting = database.db
      .selectFrom('runner_groups')
      .select('k8s_pool')
      .where('paused_until', '>', sql<Date>`now()`);
    expect(await resting.execute()).toEqual([{ k8s_pool: 'gpu' }]);
  });

  test('failures, successes and bindings of many keys side by side never wait in a circle', async () => {
    const entities = [1, 2, 3, 4, 5];
    const workers = await Promise.all(
      entities.map(
        async (entityId) => (await putWorker(database.db, { entity_id: entityId })).pod_name,
      ),
    );
    await putJob(database.db, { job_id: 1 });
    const rounds = Array.from({ length: 8 }, (_, round) => async () => {
      const order = round % 2 === 0 ? entities : entities.toReversed();
      for (const entityId of order) await fail('exit_code', { entity_id: entityId });
      await database.db.transaction().execute((trx) =>
        bindWorkers(
          trx,
          workers.map((worker) => ({ worker, jobId: 1 })),
        ),
      );
      await putPools(database.db, { pools: [{ image: crypto.randomUUID() }] });
      await forgetFailuresOfChangedPools(database.db);
    });
    await Promise.all(rounds.map((round) => round()));
    expect((await keys()).every(({ failures }) => failures >= 0)).toBe(true);
  });
});
