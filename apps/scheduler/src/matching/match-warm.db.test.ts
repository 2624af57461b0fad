import { describe, expect, test } from '@jest/globals';
import { findUnknownWarmScopes } from '@paddock/db/matching/reserve-workers';
import type { Database } from '@paddock/db/schema/tables';
import { examplePools, putJob, putPools } from '@paddock/testing/demand-rows';
import type { InsertObject } from 'kysely';
import {
  matchAll,
  matchOnce,
  noteRepositories,
  useMatchingDatabase,
} from '../scenes/matching.scene.ts';
import { ACME, SAM, useWarmDatabase } from '../scenes/warm.scene.ts';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import type { MatchingSettings } from '@paddock/domain/matching/matching-settings';

describe('warm workers', () => {
  const testDb = useWarmDatabase();

  const { install, keep, workers } = testDb;

  test('are made without a job, with the present facts of pool and entity, and once (C10)', async () => {
    await install('Acme', ACME);
    await keep('ACME', 2);
    expect(await matchAll(testDb.db)).toBe(2);
    expect(await matchAll(testDb.db)).toBe(0);
    const [warm] = await workers();
    expect(warm).toMatchObject({
      is_warm: true,
      made_for_job_id: null,
      entity_id: ACME,
      entity_name: 'Acme',
      installation_id: ACME + 1,
      scope_repo_id: 0,
      repo_full_name: null,
      k8s_pool: 'linux',
      k8s_image: 'ghcr.io/acme/runner:1',
      namespace: 'runners',
      job_labels: ['linux', 'self-hosted'],
    });
    const job = await putJob(testDb.db);
    expect(warm?.demand_key).toBe(job.demand_key);
  });

  test.each([
    ['an entity without the App', 'missing', ['missing']],
    ['a repository of an entity without the App', 'missing/one', ['missing/one']],
    ['an entity whose App is suspended', 'away', ['away']],
    ['a repository where runners register at the organisation', 'acme/api', ['acme/api']],
    ['a user, where they register at repositories', 'sam', ['sam']],
    ['a repository that discovery has not noted', 'sam/one', ['sam/one']],
    ['a repository that discovery has noted', 'sam/two', []],
    ['an organisation', 'acme', []],
  ])(
    'for %s: %s is reported if none can be made for it (C10, P5)',
    async (_what, scope, unknown) => {
      await install('acme', ACME);
      await install('sam', SAM, 'User');
      await install('away', 90_000_003);
      await testDb.db
        .updateTable('installations')
        .set({ suspended_at: new Date() })
        .where('login', '=', 'away')
        .execute();
      await testDb.db
        .insertInto('repositories')
        .values({
          full_name: 'Sam/two',
          entity_id: SAM,
          app_id: 1001,
          repo_id: 22,
          active_at: new Date(),
        })
        .execute();
      await keep(scope, 1);
      expect(await findUnknownWarmScopes(testDb.db, [1001])).toEqual(
        unknown.map((each) => ({ pool: 'linux', scope: each })),
      );
      expect(await matchAll(testDb.db)).toBe(1 - unknown.length);
    },
  );

  test('of a repository come once discovery has noted it, and stay when it has no job (C2, C10)', async () => {
    await install('sam', SAM, 'User');
    await keep('sam/One', 1);
    expect(await matchAll(testDb.db)).toBe(0);
    const sam = {
      entity_type: 'User',
      entity_name: 'sam',
      entity_id: SAM,
      repo_id: 21,
      repo_full_name: 'sam/one',
    } as const;
    await putJob(testDb.db, sam);
    await noteRepositories(testDb.db);
    expect(await matchAll(testDb.db)).toBe(2);
    expect(
      (await workers()).map((worker) => [worker.scope_repo_id, worker.repo_full_name]),
    ).toEqual([
      [21, 'sam/one'],
      [21, 'sam/one'],
    ]);
    await testDb.db.updateTable('jobs').set({ wants_worker: false, status: 'completed' }).execute();
    await matchOnce(testDb.db);
    expect((await workers()).filter(({ status }) => status === 'pending')).toHaveLength(1);
    await testDb.db.deleteFrom('workers').execute();
    expect(await matchAll(testDb.db)).toBe(1);
  });
});

describe('warm workers and caps', () => {
  const testDb = useWarmDatabase();

  const { install, keep, workers, run, end } = testDb;

  test('are replaced when they come of age, a tenth at a time and one at least (C10)', async () => {
    await install('acme', ACME);
    await keep('acme', 11);
    await matchAll(testDb.db);
    await run(719);
    expect((await matchOnce(testDb.db)).stopped).toEqual([]);
    await testDb.db
      .updateTable('workers')
      .set({ registered_at: minutesAgo(721) })
      .execute();
    const { stopped, reserved } = await matchOnce(testDb.db);
    expect({ stopped: stopped.length, reserved: reserved.length }).toEqual({
      stopped: 2,
      reserved: 2,
    });
    expect(new Set((await workers()).map((worker) => worker.stop_reason))).toEqual(
      new Set(['warm_expired', null]),
    );
    expect(await matchOnce(testDb.db)).toMatchObject({ stopped: [], reserved: [] });
    for (const { podName } of stopped) await end(podName);
    expect((await matchOnce(testDb.db)).stopped).toHaveLength(2);
    expect(
      (await workers()).filter(
        ({ status, stopping_at: at }) => ['pending', 'running'].includes(status) && at === null,
      ),
    ).toHaveLength(11);
  });
});

describe('spare workers (C3)', () => {
  const testDb = useMatchingDatabase(examplePools());

  type Given = Partial<InsertObject<Database, 'workers'>>;

  /** A worker whose runner was registered `minutes` ago. */
  async function putRegistered(minutes: number, given: Given = {}): Promise<string> {
    const at = minutesAgo(minutes);
    const { pod_name: name } = await putWorker(testDb.db, {
      status: 'running',
      created_at: at,
      registration_started_at: at,
      registered_at: at,
      running_at: at,
      pod_uid: crypto.randomUUID(),
      ...given,
    });
    return name;
  }

  const workers = () =>
    testDb.db.selectFrom('workers').selectAll().orderBy('created_at').orderBy('pod_name').execute();

  const stopReasons = async () =>
    Object.fromEntries((await workers()).map((worker) => [worker.pod_name, worker.stop_reason]));

  const stopSpare = async (options: Partial<MatchingSettings> = {}) =>
    (await matchOnce(testDb.db, options)).stopped.map(({ podName }) => podName);

  const putRetired = async (given: Given = {}) => {
    const name = await putRegistered(10, given);
    expect(await stopSpare()).toEqual([name]);
    return name;
  };

  describe('stopping spare workers', () => {
    test('registered workers beyond the waiting jobs, the oldest first, and each once (C3)', async () => {
      const oldest = await putRegistered(30);
      const middle = await putRegistered(20);
      const newest = await putRegistered(10);
      await putJob(testDb.db);
      expect(new Set(await stopSpare())).toEqual(new Set([oldest, middle]));
      expect(await stopReasons()).toEqual({
        [oldest]: 'surplus',
        [middle]: 'surplus',
        [newest]: null,
      });
      expect((await matchOnce(testDb.db)).stopped).toEqual([]);
      expect(
        (await workers())
          .filter((worker) => worker.stopping_at !== null)
          .map((worker) => worker.status),
      ).toEqual(['running', 'running']);
    });

    test('never with a job, stopping, being registered, or serving an entity’s other key (P2)', async () => {
      await putRegistered(10, { assigned_at: minutesAgo(1) });
      await putRegistered(10, {
        stopping_at: minutesAgo(1),
        stop_reason: 'idle',
        deregistration_started_at: minutesAgo(1),
      });
      await putWorker(testDb.db, { registration_started_at: minutesAgo(1) });
      await putRegistered(10, { k8s_pool: 'gpu' });
      await putPools(testDb.db, examplePools({ pools: [{}, { name: 'gpu', labels: ['gpu'] }] }));
      await putJob(testDb.db, { k8s_pool: 'gpu' });
      expect(await matchOnce(testDb.db)).toMatchObject({ stopped: [], ended: [] });
    });

    test('are passed over while another transaction writes them, without waiting (C5)', async () => {
      const name = await putRegistered(10);
      await testDb.db.transaction().execute(async (binding) => {
        await binding
          .updateTable('workers')
          .set({ assigned_at: new Date() })
          .where('pod_name', '=', name)
          .execute();
        expect((await matchOnce(testDb.db)).stopped).toEqual([]);
      });
      expect((await matchOnce(testDb.db)).stopped).toEqual([]);
    });
  });

  describe('taking workers back', () => {
    test('a surplus worker that is to end serves the next job: none is made beside it (C3, P3)', async () => {
      const name = await putRetired();
      await putJob(testDb.db);
      expect(await matchOnce(testDb.db)).toMatchObject({
        takenBack: [{ podName: name, hasPod: true }],
        reserved: [],
        lacking: 0,
      });
      expect(await stopReasons()).toEqual({ [name]: null });
      expect((await workers())[0]?.stopping_at).toBeNull();
    });

    test('not once its deregistration has begun, and not one that ends for another reason (P1)', async () => {
      await putRetired();
      await testDb.db
        .updateTable('workers')
        .set({ deregistration_started_at: new Date() })
        .execute();
      await putRegistered(10, { stopping_at: minutesAgo(1), stop_reason: 'not_registered' });
      await putJob(testDb.db);
      expect(await matchOnce(testDb.db)).toMatchObject({ takenBack: [], reserved: [{}] });
    });
  });
});
