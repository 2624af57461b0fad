import { beforeEach, describe, expect, test } from '@jest/globals';
import { BREAKER_RULES } from '@paddock/testing/breaker-rules';
import { examplePools, putJob } from '@paddock/testing/demand-rows';
import {
  type BreakerSubject,
  clusterBreaker,
  githubBreaker,
  installationBreaker,
  poolBreaker,
  repositoryBreaker,
} from '@paddock/db/breakers/breaker-subjects';
import { noteFailure } from '@paddock/db/breakers/note-failure';
import { noteSuccess } from '@paddock/db/breakers/breakers';
import { createWaits } from '@paddock/db/breakers/waits';
import { matchAll, matchOnce, useMatchingDatabase } from '../scenes/matching.scene.ts';

const testDb = useMatchingDatabase(examplePools({ pools: [{}, { name: 'gpu', labels: ['gpu'] }] }));

const ACME = 1;
const GLOBEX = 2;
const putJobs = async (count: number, entityId: number, pool: string) => {
  for (let n = 0; n < count; n += 1)
    await putJob(testDb.db, {
      entity_id: entityId,
      entity_name: `account-${entityId}`,
      k8s_pool: pool,
    });
};
const open = async (subject: BreakerSubject, failureClass = 'forbidden') => {
  for (let n = 0; n < 3; n += 1)
    await noteFailure(
      { db: testDb.db, breakerRules: BREAKER_RULES },
      { subject, failureClass, message: 'no' },
    );
};
/** Of each key, by entity and pool: its live workers, and why there are no more. */
const keys = async () => {
  const rows = await testDb.db
    .selectFrom('demand_keys')
    .selectAll()
    .orderBy('entity_id')
    .orderBy('k8s_pool')
    .execute();
  return rows.map((key) => [key.entity_id, key.k8s_pool, key.unassigned, key.wait_reason]);
};

describe('matching under open breakers (C11)', () => {
  beforeEach(async () => {
    for (const entityId of [ACME, GLOBEX])
      for (const pool of ['gpu', 'linux']) await putJobs(3, entityId, pool);
  });

  test('a failing pool gets one worker for the trial, from any entity, and all other pools continue', async () => {
    await open(poolBreaker('gpu'));
    await matchAll(testDb.db);
    const [ofAcme, ...others] = await keys();
    expect([ofAcme, others[1]]).toEqual([
      [ACME, 'gpu', expect.any(Number), 'pool_failing'],
      [GLOBEX, 'gpu', expect.any(Number), 'pool_failing'],
    ]);
    expect(Number(ofAcme?.[2]) + Number(others[1]?.[2])).toBe(1);
    expect([others[0], others[2]]).toEqual([
      [ACME, 'linux', 3, null],
      [GLOBEX, 'linux', 3, null],
    ]);
  });

  test.each([
    ['in all calls', {}],
    ['in registrations', { resource: 'actions_runner_registration' }],
  ])(
    'an entity that GitHub asks to wait %s gets no worker until then, and as many as it lacks after it',
    async (_name, which) => {
      const waits = createWaits(testDb.db, () => undefined);
      await waits.note({ entityId: ACME }, { ms: 60_000, message: 'slow down', ...which });
      await matchAll(testDb.db);
      const served = ['gpu', 'linux'].map((pool) => [GLOBEX, pool, 3, null]);
      expect(await keys()).toEqual([
        ...['gpu', 'linux'].map((pool) => [ACME, pool, 0, 'github_budget']),
        ...served,
      ]);
      await testDb.db
        .updateTable('breakers')
        .set({ paused_until: new Date(0) })
        .execute();
      await matchAll(testDb.db);
      expect(await keys()).toEqual([
        ...['gpu', 'linux'].map((pool) => [ACME, pool, 3, null]),
        ...served,
      ]);
    },
  );

  test('an entity goes on whose other budgets are used up', async () => {
    const waits = createWaits(testDb.db, () => undefined);
    await waits.note({ entityId: ACME }, { ms: 60_000, message: 'slow down', resource: 'core' });
    await matchAll(testDb.db);
    expect((await keys())[0]).toEqual([ACME, 'gpu', 3, null]);
  });

  test.each([
    ['not_found', 'installation_gone'],
    ['forbidden', 'installation_refused'],
    ['unauthorized', 'installation_refused'],
    ['conflict', 'registration_conflict'],
  ])(
    'an entity whose calls end with %s waits for %s, and no other',
    async (failureClass, reason) => {
      await open(installationBreaker(ACME), failureClass);
      await matchAll(testDb.db);
      const [gpu, linux, ...others] = await keys();
      expect([gpu?.[3], linux?.[3]]).toEqual([reason, reason]);
      expect(Number(gpu?.[2]) + Number(linux?.[2])).toBe(1);
      expect(others).toEqual([
        [GLOBEX, 'gpu', 3, null],
        [GLOBEX, 'linux', 3, null],
      ]);
    },
  );

  test.each([
    ['not_found', 'repository_gone'],
    ['forbidden', 'repository_refused'],
    ['conflict', 'repository_refused'],
  ])(
    'a repository whose calls end with %s waits for %s, and no other of its entity (P1)',
    async (failureClass, reason) => {
      for (const repo of [21, 22])
        for (let n = 0; n < 3; n += 1)
          await putJob(testDb.db, { entity_id: 3, entity_type: 'User', repo_id: repo });
      expect(await matchAll(testDb.db)).toBe(18);
      await open(repositoryBreaker(21), failureClass);
      expect((await matchOnce(testDb.db)).ended).toHaveLength(2);
      const rows = await testDb.db
        .selectFrom('demand_keys')
        .selectAll()
        .where('entity_id', '=', 3)
        .orderBy('scope_repo_id')
        .execute();
      expect(rows.map((key) => [key.scope_repo_id, key.unassigned, key.wait_reason])).toEqual([
        [21, 1, reason],
        [22, 3, null],
      ]);
    },
  );

  test.each([
    [githubBreaker, 'github_unavailable'],
    [clusterBreaker('default'), 'cluster_unavailable'],
  ])('one worker in all while %j is away', async (subject, reason) => {
    await open(subject, 'unavailable');
    expect(await matchAll(testDb.db)).toBe(1);
    expect((await keys()).map((key) => key[3])).toEqual([reason, reason, reason, reason]);
  });

  test('reservations that were made before go back but for one, and come again when it has closed', async () => {
    expect(await matchAll(testDb.db)).toBe(12);
    await open(poolBreaker('linux'));
    expect((await matchOnce(testDb.db)).ended).toHaveLength(5);
    expect((await matchOnce(testDb.db)).ended).toEqual([]);
    await noteSuccess(testDb.db, [poolBreaker('linux')]);
    expect(await matchAll(testDb.db)).toBe(5);
    expect((await keys()).map((key) => key[3])).toEqual([null, null, null, null]);
  });
});
