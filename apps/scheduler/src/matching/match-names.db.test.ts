import { describe, expect, test } from '@jest/globals';
import { examplePools, putInstallation, putJob, putPools } from '@paddock/testing/demand-rows';
import { minutesAgo } from '@paddock/testing/worker-rows';
import { findInstallation } from '@paddock/db/jobs/repositories';
import {
  findReasons,
  matchAll,
  noteRepositories,
  useMatchingDatabase,
} from '../scenes/matching.scene.ts';
import { GATE } from '../scenes/settings.scene.ts';

const ACME = 11;
const THIEF = 666;

const at = (entityId: number) => ({
  entity_id: entityId,
  repo_id: entityId + 2,
  scope_repo_id: entityId + 2,
  wants_worker: false,
});

/** By this machine's clock, which is the database's. */
const before = (minutes: number) => new Date(Date.now() - minutes * 60_000);

const testDb = useMatchingDatabase();
const db = () => testDb.db;

const install = (login: string, entityId: number, minutes = 0) =>
  putInstallation(db(), {
    entity_id: entityId,
    installation_id: entityId + 1,
    login,
    stated_at: minutesAgo(minutes),
  });
const pin = (login: string, entityId: number) =>
  db().insertInto('login_pins').values({ login, entity_id: entityId }).execute();
const whoseWorkers = async () => {
  const rows = await db().selectFrom('workers').select('entity_id').orderBy('entity_id').execute();
  return rows.map((row) => row.entity_id);
};

describe('an entity under a login that is another one’s', () => {
  test.each([{ acme: { maxWorkers: 1 } }, { acme: { maxWorkers: 1 }, '*': {} }])(
    'gets no worker and uses nothing of the login’s share: %j (C4)',
    async (entities) => {
      await putPools(db(), examplePools({ entities }));
      await install('acme', ACME, 9);
      await install('Acme', THIEF);
      await pin('acme', ACME);
      for (const entityId of [THIEF, ACME, ACME])
        await putJob(db(), { entity_id: entityId, installation_id: entityId + 1 });
      expect(await matchAll(db())).toBe(1);
      expect(await whoseWorkers()).toEqual([ACME]);
      const keys = await db()
        .selectFrom('demand_keys')
        .select(['entity_id', 'wait_reason'])
        .orderBy('entity_id')
        .execute();
      expect(keys).toEqual([
        { entity_id: ACME, wait_reason: 'at_entity_cap' },
        { entity_id: THIEF, wait_reason: 'entity_not_allowed' },
      ]);
    },
  );

  test('gets no warm workers, and the scope is not looked up in its place (C10)', async () => {
    await putPools(
      db(),
      examplePools({ pools: [{ warm: [{ scope: 'acme', workers: 1 }] }], entities: { acme: {} } }),
    );
    await install('acme', ACME, 9);
    await install('acme', THIEF);
    await pin('acme', ACME);
    await matchAll(db());
    expect(await whoseWorkers()).toEqual([ACME]);
    expect(await findInstallation(db(), { login: 'Acme' }, GATE.appIds)).toMatchObject({
      entityId: ACME,
    });
    await db().deleteFrom('workers').execute();
    await db()
      .updateTable('installations')
      .set({ suspended_at: minutesAgo(0) })
      .where('entity_id', '=', ACME)
      .execute();
    await matchAll(db());
    expect(await whoseWorkers()).toEqual([]);
  });

  test.each([
    { entities: ['acme'] },
    { registration: 'repository', repositories: ['acme/*'] },
  ] as const)(
    'has no worker in a pool that names the login, warm or for a job, although everybody is served: %j (C4, C10)',
    async (gate) => {
      const scope = 'registration' in gate ? 'acme/api' : 'acme';
      await putPools(
        db(),
        examplePools({
          pools: [{ ...gate, warm: [{ scope, workers: 1 }] } as object],
          entities: { '*': {} },
        }),
      );
      await pin('acme', ACME);
      await install('acme-renamed', ACME);
      await install('acme', THIEF);
      await putJob(db(), { ...at(THIEF), status: 'running' });
      await noteRepositories(db());
      await matchAll(db());
      expect(await whoseWorkers()).toEqual([]);
      const { scope_repo_id: repoId } = at(THIEF);
      await putJob(db(), {
        entity_id: THIEF,
        installation_id: THIEF + 1,
        scope_repo_id: 'registration' in gate ? repoId : 0,
      });
      await matchAll(db());
      expect(await whoseWorkers()).toEqual([]);
      expect(await findReasons(db())).toEqual({ linux: 'pool_closed' });
    },
  );
});

test('an old job that becomes known now does not take the name of a repository with warm workers', async () => {
  const warm = [{ scope: 'acme/api', workers: 1 }];
  await putPools(
    db(),
    examplePools({ pools: [{ registration: 'repository', warm }], entities: { acme: {} } }),
  );
  await install('acme', ACME);
  const running = { entity_id: ACME, status: 'running', wants_worker: false } as const;
  await putJob(db(), { ...running, repo_id: 2, scope_repo_id: 2 });
  await noteRepositories(db());
  await putJob(db(), { ...running, repo_id: 1, scope_repo_id: 1, queued_at: before(60) });
  await noteRepositories(db());
  await matchAll(db());
  expect(await db().selectFrom('workers').select('scope_repo_id').execute()).toEqual([
    { scope_repo_id: 2 },
  ]);
});
