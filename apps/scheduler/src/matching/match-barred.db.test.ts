import { describe, expect, test } from '@jest/globals';
import { examplePools, putJob } from '@paddock/testing/demand-rows';
import { APP_IDS, CASES, install, OWN, REMOVED } from '@paddock/db/scenes/installation-today.scene';
import { storeInstallations } from '@paddock/db/entities/installations';
import { findWorkerToProvision } from '@paddock/db/workers/workers';
import { matchAll, matchOnce, useMatchingDatabase } from '../scenes/matching.scene.ts';

const testDb = useMatchingDatabase(examplePools());

const ACME = { id: 90_000_001, login: 'acme', type: 'Organization' } as const;
const state = (
  given: {
    appId?: number;
    installationId?: number;
    suspendedAt?: string | null;
    isDeleted?: boolean;
  } = {},
) =>
  testDb.db.transaction().execute((trx) =>
    storeInstallations(trx, [
      {
        appId: 1001,
        entity: ACME,
        installationId: 51_000_001,
        repositorySelection: 'all',
        suspendedAt: null,
        isDeleted: false,
        statedAt: null,
        ...given,
      },
    ]),
  );
const suspended = { suspendedAt: '2026-01-02T03:04:05Z' };
const reason = async () =>
  (await testDb.db.selectFrom('demand_keys').select('wait_reason').executeTakeFirstOrThrow())
    .wait_reason;

describe('an entity where GitHub has said that the App cannot work (P5)', () => {
  test.each([
    ['suspended', suspended, 'installation_suspended'],
    ['deleted', { isDeleted: true }, 'installation_gone'],
  ])(
    '%s: unregistered reservations go back, no trial is made, and the key has the reason',
    async (_name, given, why) => {
      await state();
      for (let n = 0; n < 2; n += 1) await putJob(testDb.db);
      await putJob(testDb.db, { entity_id: 2, entity_name: 'globex' });
      expect(await matchAll(testDb.db)).toBe(3);
      await state(given);
      expect((await matchOnce(testDb.db)).ended).toHaveLength(2);
      expect(await matchAll(testDb.db)).toBe(0);
      const keys = await testDb.db
        .selectFrom('demand_keys')
        .select(['unassigned', 'wait_reason'])
        .orderBy('entity_name')
        .execute();
      expect(keys).toEqual([
        { unassigned: 0, wait_reason: why },
        { unassigned: 1, wait_reason: null },
      ]);
    },
  );

  test.each([
    ['unsuspended', suspended, {}],
    ['installed anew', { isDeleted: true }, { installationId: 51_000_002 }],
  ])('%s: it is served again', async (_name, barred, again) => {
    await state(barred);
    await putJob(testDb.db);
    expect(await matchAll(testDb.db)).toBe(0);
    await state(again);
    expect(await matchAll(testDb.db)).toBe(1);
    expect(await reason()).toBeNull();
  });

  test('another App that is installed there and works serves it (A12)', async () => {
    await state(suspended);
    await state({ appId: 1002, installationId: 51_000_009 });
    await putJob(testDb.db);
    const { reserved } = await matchOnce(testDb.db);
    expect(
      await findWorkerToProvision(testDb.db, reserved[0]?.podName ?? '', [1001, 1002]),
    ).toMatchObject({
      appId: 1002,
      installationId: 51_000_009,
    });
  });
});

test.each(CASES)(
  'a worker for an entity is made for %s (A12)',
  async (_name, known, rowsApp, serving) => {
    await install(testDb.db, known);
    await putJob(testDb.db, { app_id: rowsApp });
    await matchOnce(testDb.db, { appIds: APP_IDS });
    const made = await testDb.db
      .selectFrom('workers')
      .select(['app_id', 'installation_id'])
      .execute();
    expect(made).toEqual(
      serving === undefined ? [] : [{ app_id: serving, installation_id: serving }],
    );
  },
);

test.each([
  ['app_not_configured', [{ app: REMOVED }]],
  ['app_not_configured', [{ app: REMOVED }, { app: OWN, state: 'deleted' }]],
  ['installation_suspended', [{ app: OWN, state: 'suspended' }, { app: REMOVED }]],
  ['installation_gone', [{ app: OWN, state: 'deleted' }]],
] as const)(
  'no worker is made where no App may be used, for the reason %s (P5)',
  async (expected, known) => {
    await install(testDb.db, known);
    await putJob(testDb.db);
    expect((await matchOnce(testDb.db, { appIds: APP_IDS })).reserved).toEqual([]);
    expect(await testDb.db.selectFrom('demand_keys').select('wait_reason').execute()).toEqual([
      { wait_reason: expected },
    ]);
  },
);
