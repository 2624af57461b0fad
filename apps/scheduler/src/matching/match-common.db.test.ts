import { describe, expect, test } from '@jest/globals';
import { examplePools, putInstallation, putJob, putPools } from '@paddock/testing/demand-rows';
import { putWorker } from '@paddock/testing/worker-rows';
import { matchAll, matchOnce, useMatchingDatabase } from '../scenes/matching.scene.ts';

const testDb = useMatchingDatabase();

const entityIds = { acme: 1, globex: 2, hooli: 3, initech: 4 };
const place = (login: keyof typeof entityIds) => ({
  entity_id: entityIds[login],
  entity_name: login,
});
const putJobs = async (count: number, login: keyof typeof entityIds) => {
  for (let n = 0; n < count; n += 1) await putJob(testDb.db, place(login));
};
const putBusy = async (count: number, login: keyof typeof entityIds) => {
  for (let n = 0; n < count; n += 1)
    await putWorker(testDb.db, { ...place(login), assigned_at: new Date(), pod_uid: `uid-${n}` });
};
/**
 * Of each key with waiting jobs: its unassigned workers, its tightest cap, and why there are no
 * more.
 */
const keys = async () => {
  const rows = await testDb.db.selectFrom('demand_keys').selectAll().orderBy('entity_id').execute();
  return rows.map((key) => [key.entity_name, key.unassigned, key.cap, key.wait_reason]);
};
const install = (login: keyof typeof entityIds) =>
  putInstallation(testDb.db, {
    entity_id: entityIds[login],
    installation_id: 51_000_000 + entityIds[login],
    login,
  });

describe("the entities that only '*' admits (C4)", () => {
  test('have no more together than their common cap, and jobs beyond it have the reason', async () => {
    await putPools(
      testDb.db,
      examplePools({
        entities: { acme: { maxWorkers: null }, '*': { maxWorkers: 4, commonMaxWorkers: 5 } },
      }),
    );
    for (const login of ['acme', 'globex', 'hooli'] as const) await putJobs(6, login);
    expect(await matchAll(testDb.db)).toBe(11);
    expect(await keys()).toEqual([
      ['acme', 6, null, null],
      ['globex', 3, 4, 'at_common_cap'],
      ['hooli', 2, 4, 'at_common_cap'],
    ]);
  });

  test('count those whose jobs all run, and no worker of a named entity, under any of its names', async () => {
    const entities = {
      acme: { maxWorkers: null },
      'id:4': { maxWorkers: null },
      '*': { maxWorkers: null, commonMaxWorkers: 5 },
    };
    await putPools(testDb.db, examplePools({ entities }));
    await install('acme');
    await testDb.db
      .insertInto('login_pins')
      .values({ login: 'acme', entity_id: entityIds.acme })
      .execute();
    await putBusy(6, 'acme');
    await putBusy(6, 'initech');
    await putBusy(3, 'globex');
    await putJobs(6, 'hooli');
    expect(await matchAll(testDb.db)).toBe(2);
    expect(await keys()).toEqual([['hooli', 2, 5, 'at_common_cap']]);
  });

  test('share a full pool with a named entity as one of their weight, however many they are', async () => {
    const entities = { acme: { maxWorkers: null }, '*': { maxWorkers: null, commonWeight: 0.5 } };
    await putPools(testDb.db, examplePools({ pools: [{ maxWorkers: 9 }], entities }));
    for (const login of ['acme', 'globex', 'hooli', 'initech'] as const) await putJobs(9, login);
    await matchAll(testDb.db);
    expect((await keys()).map(([, unassigned]) => unassigned)).toEqual([6, 1, 1, 1]);
  });

  test('give reservations back that exceed a common cap which was lowered', async () => {
    await putPools(testDb.db, examplePools());
    for (const login of ['globex', 'hooli'] as const) await putJobs(3, login);
    expect(await matchAll(testDb.db)).toBe(6);
    await putPools(
      testDb.db,
      examplePools({ entities: { '*': { maxWorkers: null, commonMaxWorkers: 2 } } }),
    );
    expect((await matchOnce(testDb.db)).ended).toHaveLength(4);
    expect((await matchOnce(testDb.db)).ended).toEqual([]);
  });
});
