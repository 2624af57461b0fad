import { describe, expect, test } from '@jest/globals';
import { findUnknownWarmScopes, findWarmKeys } from '@paddock/db/matching/reserve-workers';
import type { Database } from '@paddock/db/schema/tables';
import { examplePools, putInstallation, putJob, putPools } from '@paddock/testing/demand-rows';
import type { Updateable } from 'kysely';
import { matchAll, matchOnce, noteRepositories } from '../scenes/matching.scene.ts';
import { ACME, SAM, useWarmDatabase } from '../scenes/warm.scene.ts';

const testDb = useWarmDatabase();
const { install, keep, workers, run, end } = testDb;
const change = (set: Updateable<Database['workers']>) => testDb.db.updateTable('workers').set(set);

describe('warm workers', () => {
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

  test('are as many as wanted while a runner ended whose job is unknown: the next pass makes none in addition (C3, C10, P3)', async () => {
    await install('acme', ACME);
    await keep('acme', 1);
    await matchAll(testDb.db);
    await run();
    const [ended] = await workers();
    await change({
      status: 'completed',
      completed_at: new Date(),
      unexplained_until: new Date(Date.now() + 600_000),
    })
      .where('pod_name', '=', ended?.pod_name ?? '')
      .execute();
    await putJob(testDb.db);
    await putJob(testDb.db);
    // The ended runner took one of the two jobs, so one worker serves the other and one is kept
    // warm.
    expect(await matchAll(testDb.db)).toBe(2);
    expect(await matchAll(testDb.db)).toBe(0);
    expect(
      (await workers()).filter((worker) => worker.is_warm && worker.status === 'pending'),
    ).toHaveLength(1);
  });

  test('are made for entities only on which the App is installed and not suspended (C10)', async () => {
    await keep('acme', 1);
    expect(await matchAll(testDb.db)).toBe(0);
    await install('acme', ACME);
    await testDb.db.updateTable('installations').set({ suspended_at: new Date() }).execute();
    expect(await matchAll(testDb.db)).toBe(0);
    await testDb.db.updateTable('installations').set({ suspended_at: null }).execute();
    expect(await matchAll(testDb.db)).toBe(1);
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

  test('whose repository’s name has gone to another are made for that one, as its newest job says, even if the entity has several Apps (C10)', async () => {
    await install('sam', SAM, 'User');
    await putInstallation(testDb.db, {
      entity_id: SAM,
      entity_type: 'User',
      login: 'sam',
      app_id: 1002,
      installation_id: SAM + 2,
    });
    await keep('sam/one', 1);
    const sam = {
      entity_type: 'User',
      entity_name: 'sam',
      entity_id: SAM,
      repo_full_name: 'Sam/One',
      status: 'running',
      wants_worker: false,
    } as const;
    await putJob(testDb.db, { ...sam, repo_id: 22, created_at: new Date(Date.now() - 60_000) });
    await putJob(testDb.db, { ...sam, repo_id: 21, created_at: new Date(Date.now() - 120_000) });
    await putJob(testDb.db, { ...sam, repo_full_name: 'sam/two', repo_id: 23 });
    const known = async () => {
      await noteRepositories(testDb.db);
      const keys = await findWarmKeys(testDb.db, { lifetimeMs: 1, appIds: [1001, 1002] });
      return keys.map(({ scopeRepoId }) => scopeRepoId);
    };
    expect(await known()).toEqual([22]);
    await putJob(testDb.db, { ...sam, repo_id: 24 });
    expect(await known()).toEqual([24]);
  });

  test('serve waiting jobs like all others: one more is made as soon as a job waits for one, and none is too many after it (C3, C10)', async () => {
    await install('acme', ACME);
    await keep('acme', 1);
    await matchAll(testDb.db);
    await run();
    const job = await putJob(testDb.db);
    const { reserved } = await matchOnce(testDb.db);
    expect(reserved).toMatchObject([{ madeForJobId: null }]);
    const [first] = await workers();
    await change({ assigned_at: new Date() })
      .where('pod_name', '=', first?.pod_name ?? '')
      .execute();
    await testDb.db
      .updateTable('jobs')
      .set({ wants_worker: false })
      .where('job_id', '=', job.job_id)
      .execute();
    await end(first?.pod_name);
    expect(await matchOnce(testDb.db)).toMatchObject({ reserved: [], stopped: [], ended: [] });
  });

  test('may be a job’s leftover worker: it is marked, and none is made beside it (C10, P3)', async () => {
    await install('acme', ACME);
    await keep('acme', 1);
    await putJob(testDb.db);
    await matchAll(testDb.db);
    await run();
    // The warm one gets the job; the one that was made for the job stays.
    await change({ assigned_at: new Date() }).where('is_warm', '=', true).execute();
    await testDb.db.updateTable('jobs').set({ wants_worker: false }).execute();
    expect(await matchOnce(testDb.db)).toMatchObject({ reserved: [], stopped: [] });
    expect(
      (await workers())
        .filter((worker) => worker.assigned_at === null)
        .map((worker) => worker.is_warm),
    ).toEqual([true]);
  });

  test('go when the configuration wants them no more, the newest reservation or else the oldest worker first (C3, C10)', async () => {
    await install('acme', ACME);
    await keep('acme', 3);
    await matchAll(testDb.db);
    await keep('acme', 2);
    expect((await matchOnce(testDb.db)).ended).toHaveLength(1);
    await run();
    await keep('acme', 1);
    expect((await matchOnce(testDb.db)).stopped).toHaveLength(1);
    await putPools(testDb.db, examplePools());
    expect((await matchOnce(testDb.db)).stopped).toHaveLength(1);
  });

  test.each([
    ['its pool is paused', { pools: [{ paused: true }] }],
    ['the entity may have none', { entities: { '*': { maxWorkers: 0 } } }],
    ['the pool may have none', { pools: [{ maxWorkers: 0 }] }],
    ['the entity is not allowed', { entities: { other: {} } }],
  ])('are neither made nor kept when %s (C4, C12)', async (_name, given) => {
    await install('acme', ACME);
    await keep('acme', 1, given);
    expect(await matchAll(testDb.db)).toBe(0);
    await keep('acme', 1);
    await matchAll(testDb.db);
    await run();
    await keep('acme', 1, given);
    expect((await matchOnce(testDb.db)).stopped).toHaveLength(1);
  });
});
