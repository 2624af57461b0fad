import { beforeEach, describe, expect, test } from '@jest/globals';
import { endRefusals, recordRefusal } from '@paddock/db/entities/refusals';
import { createWaits } from '@paddock/db/entities/waits';
import { examplePools, noteInstallationOf, putJob } from '@paddock/testing/demand-rows';
import { matchAll, matchOnce, useMatchingDatabase } from '../scenes/matching.scene.ts';
import { waitsOf } from '../scenes/waits.scene.ts';

const testDb = useMatchingDatabase(examplePools({ pools: [{}, { name: 'gpu', labels: ['gpu'] }] }));

const ACME = 1;
const GLOBEX = 2;
const installationOf = (entityId: number) => 50 + entityId;
const callOf = (entityId: number, repoId = 0) => ({
  appId: 1001,
  entityId,
  installationId: installationOf(entityId),
  entityType: 'Organization' as const,
  login: `account-${entityId}`,
  repoId,
});
const REFUSALS = {
  app: { kind: 'unauthorized', operation: 'POST /app/installations/1/access_tokens', status: 401 },
  entity: { kind: 'forbidden', operation: 'POST /orgs/a/actions/runners/generate-jitconfig' },
  gone: { kind: 'not_found', operation: 'POST /app/installations/1/access_tokens', status: 404 },
  repository: {
    kind: 'forbidden',
    operation: 'POST /repos/a/b/actions/runners/generate-jitconfig',
  },
  goneRepository: { kind: 'not_found', operation: 'GET /repositories/21', status: 404 },
} as const;
const refuse = (what: keyof typeof REFUSALS, call = callOf(ACME)) =>
  recordRefusal(testDb.db, 'scheduler', { call, refusal: { message: 'no', ...REFUSALS[what] } });
const putJobs = async (
  count: number,
  given: Parameters<typeof putJob>[1] & { entity_id: number },
) => {
  for (let n = 0; n < count; n += 1)
    await noteInstallationOf(
      testDb.db,
      await putJob(testDb.db, {
        entity_name: `account-${given.entity_id}`,
        installation_id: installationOf(given.entity_id),
        ...given,
      }),
    );
};
/** Of each key, by entity and pool: its live workers, and why there are no more. */
const keys = async () => {
  const rows = await testDb.db
    .selectFrom('demand_keys')
    .selectAll()
    .orderBy('entity_id')
    .orderBy('scope_repo_id')
    .orderBy('k8s_pool')
    .execute();
  return rows.map((key) => [key.entity_id, key.k8s_pool, key.unassigned, key.wait_reason]);
};
const SERVED = [
  [GLOBEX, 'gpu', 3, null],
  [GLOBEX, 'linux', 3, null],
];
const endTimes = () => waitsOf(testDb.db).endRefusedTimes();

beforeEach(async () => {
  for (const entity of [ACME, GLOBEX])
    for (const pool of ['gpu', 'linux']) await putJobs(3, { entity_id: entity, k8s_pool: pool });
});

const askToWait = (which: { resource?: string }) =>
  createWaits(testDb.db, () => undefined).note(callOf(ACME), {
    ms: 60_000,
    message: 'slow down',
    ...which,
  });

describe('an entity that GitHub asks to wait (C11)', () => {
  test.each([
    ['in all calls', {}],
    ['in registrations', { resource: 'actions_runner_registration' }],
  ])('%s gets no worker until then, and as many as it lacks after it', async (_name, which) => {
    await askToWait(which);
    await matchAll(testDb.db);
    expect(await keys()).toEqual([
      ...['gpu', 'linux'].map((pool) => [ACME, pool, 0, 'github_budget']),
      ...SERVED,
    ]);
    const over = { wait_until: new Date(0), registrations_reset_at: new Date(0) };
    await testDb.db.updateTable('installations').set(over).execute();
    await matchAll(testDb.db);
    expect((await keys()).map((key) => key[2])).toEqual([3, 3, 3, 3]);
  });

  test('goes on if its other budgets are used up', async () => {
    await askToWait({ resource: 'core' });
    await matchAll(testDb.db);
    expect((await keys())[0]).toEqual([ACME, 'gpu', 3, null]);
  });
});

describe('an entity that GitHub refuses us (C9, C11)', () => {
  test.each([
    ['entity', 'installation_refused'],
    ['gone', 'installation_gone'],
  ] as const)('%s: gets no worker, and no other entity waits', async (what, reason) => {
    await refuse(what);
    await matchAll(testDb.db);
    expect(await keys()).toEqual([
      ...['gpu', 'linux'].map((pool) => [ACME, pool, 0, reason]),
      ...SERVED,
    ]);
  });

  test('with its App: no entity of that App does, unless another App works there', async () => {
    await refuse('app');
    const [works] = await testDb.db
      .selectFrom('installations')
      .selectAll()
      .where('entity_id', '=', GLOBEX)
      .execute();
    if (works === undefined) throw new Error('There is no installation.');
    await testDb.db
      .insertInto('installations')
      .values({ ...works, former_logins: '{}', app_id: 1002, installation_id: 99 })
      .execute();
    await matchAll(testDb.db);
    expect(await keys()).toEqual([
      ...['gpu', 'linux'].map((pool) => [ACME, pool, 0, 'installation_refused']),
      ...SERVED,
    ]);
    const made = testDb.db.selectFrom('workers').select('app_id').distinct();
    expect(await made.execute()).toEqual([{ app_id: 1002 }]);
  });

  test('gives its reservations back, gets one worker once the time is over, and all others once that succeeds', async () => {
    expect(await matchAll(testDb.db)).toBe(12);
    await refuse('entity');
    expect((await matchOnce(testDb.db)).ended).toHaveLength(6);
    await endTimes();
    expect(await matchAll(testDb.db)).toBe(1);
    // It registers: that is the one.
    const first = testDb.db.updateTable('workers').set({ registration_started_at: new Date() });
    await first.where('entity_id', '=', ACME).where('status', '=', 'pending').execute();
    expect(await matchAll(testDb.db)).toBe(0);
    await endRefusals(testDb.db, callOf(ACME));
    expect(await matchAll(testDb.db)).toBe(5);
    expect((await keys()).map((key) => key[3])).toEqual([null, null, null, null]);
  });

  test('is refused once more: nothing is made until the next time is over', async () => {
    await refuse('entity');
    await endTimes();
    expect(await matchAll(testDb.db)).toBe(6 + 1);
    await refuse('entity');
    expect((await matchOnce(testDb.db)).ended).toHaveLength(1);
    expect(await matchAll(testDb.db)).toBe(0);
  });
});

test.each([
  ['repository', 'repository_refused'],
  ['goneRepository', 'repository_gone'],
] as const)(
  'a repository (%s) waits for %s, and no other of its entity (P1)',
  async (what, reason) => {
    for (const repo of [21, 22])
      await putJobs(3, { entity_id: 3, entity_type: 'User', repo_id: repo });
    expect(await matchAll(testDb.db)).toBe(18);
    await refuse(what, callOf(3, 21));
    expect((await matchOnce(testDb.db)).ended).toHaveLength(3);
    expect((await keys()).filter(([entityId]) => entityId === 3)).toEqual([
      [3, 'linux', 0, reason],
      [3, 'linux', 3, null],
    ]);
    await endTimes();
    expect(await matchAll(testDb.db)).toBe(1);
    await endRefusals(testDb.db, callOf(3, 21));
    expect(await matchAll(testDb.db)).toBe(2);
  },
);
