import { beforeEach, describe, expect, test } from '@jest/globals';
import { endRefusals, recordRefusal } from '@paddock/db/entities/refusals';
import {
  createWaits,
  noteRegistrationBudget,
  type RegistrationBudget,
} from '@paddock/db/entities/waits';
import {
  examplePools,
  noteInstallationOf,
  putJob,
  putInstallation,
} from '@paddock/testing/demand-rows';
import { matchAll, matchOnce, useMatchingDatabase, findReasons } from '../scenes/matching.scene.ts';
import { waitsOf } from '../scenes/waits.scene.ts';
import { APP_IDS, install, OWN, REMOVED } from '@paddock/db/scenes/installation-today.scene';
import { storeInstallations } from '@paddock/db/entities/installations';

const testDb = useMatchingDatabase(examplePools({ pools: [{}, { name: 'gpu', labels: ['gpu'] }] }));

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

const putJobsOf = async (
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
const keysNow = async () => {
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

const suspended = { suspendedAt: '2026-01-02T03:04:05Z' };

const INSTALLATION = 51_000_001;

const soon = () => new Date(Date.now() + 1_800_000);

const note = (given: Partial<RegistrationBudget>) =>
  noteRegistrationBudget(testDb.db, {
    installationId: INSTALLATION,
    remaining: 100,
    resetAt: soon(),
    ...given,
  });

const stored = () =>
  testDb.db
    .selectFrom('installations')
    .select(['registrations_left', 'registrations_reset_at'])
    .where('installation_id', '=', INSTALLATION)
    .executeTakeFirstOrThrow();

async function putJobs(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1)
    await putJob(testDb.db, n % 2 === 0 ? {} : { k8s_pool: 'gpu' });
}

describe('what GitHub asks and refuses', () => {
  const ACME = 1;

  const refuse = (what: keyof typeof REFUSALS, call = callOf(ACME)) =>
    recordRefusal(testDb.db, 'scheduler', { call, refusal: { message: 'no', ...REFUSALS[what] } });

  beforeEach(async () => {
    for (const entity of [ACME, GLOBEX])
      for (const pool of ['gpu', 'linux'])
        await putJobsOf(3, { entity_id: entity, k8s_pool: pool });
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
      expect(await keysNow()).toEqual([
        ...['gpu', 'linux'].map((pool) => [ACME, pool, 0, 'github_budget']),
        ...SERVED,
      ]);
      const over = { wait_until: new Date(0), registrations_reset_at: new Date(0) };
      await testDb.db.updateTable('installations').set(over).execute();
      await matchAll(testDb.db);
      expect((await keysNow()).map((key) => key[2])).toEqual([3, 3, 3, 3]);
    });
  });

  describe('an entity that GitHub refuses us (C9, C11)', () => {
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
      expect(await keysNow()).toEqual([
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
      expect((await keysNow()).map((key) => key[3])).toEqual([null, null, null, null]);
    });
  });

  test.each([
    ['repository', 'repository_refused'],
    ['goneRepository', 'repository_gone'],
  ] as const)(
    'a repository (%s) waits for %s, and no other of its entity (P1)',
    async (what, reason) => {
      for (const repo of [21, 22])
        await putJobsOf(3, { entity_id: 3, entity_type: 'User', repo_id: repo });
      expect(await matchAll(testDb.db)).toBe(18);
      await refuse(what, callOf(3, 21));
      expect((await matchOnce(testDb.db)).ended).toHaveLength(3);
      expect((await keysNow()).filter(([entityId]) => entityId === 3)).toEqual([
        [3, 'linux', 0, reason],
        [3, 'linux', 3, null],
      ]);
      await endTimes();
      expect(await matchAll(testDb.db)).toBe(1);
      await endRefusals(testDb.db, callOf(3, 21));
      expect(await matchAll(testDb.db)).toBe(2);
    },
  );
});

describe('where no App may be used', () => {
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
  });

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
});

describe('the budget of registrations', () => {
  beforeEach(async () => {
    await putInstallation(testDb.db);
  });

  describe('noteRegistrationBudget (P4)', () => {
    test('keeps the lowest figure of a window, and the newest window, when answers come in any order', async () => {
      const [earlier, later] = [new Date('2026-01-01T01:00:00Z'), new Date('2026-01-01T02:00:00Z')];
      const answers = [
        { remaining: 7, resetAt: earlier },
        { remaining: 9, resetAt: later },
        { remaining: 8, resetAt: later },
      ];
      for (const order of [answers, answers.toReversed()]) {
        const unsaid = { registrations_left: null, registrations_reset_at: null };
        await testDb.db.updateTable('installations').set(unsaid).execute();
        for (const answer of order) await note(answer);
        expect(await stored()).toEqual({ registrations_left: 8, registrations_reset_at: later });
      }
    });
  });

  describe('the matcher (C4, P4)', () => {
    test('reserves no more than GitHub lets the installation register, counting workers before their registration', async () => {
      await putJobs(5);
      await note({ remaining: 3 });
      expect(await matchAll(testDb.db, { most: 2 })).toBe(3);
      expect(await findReasons(testDb.db)).toEqual({
        gpu: 'github_budget',
        linux: 'github_budget',
      });
    });

    test('goes by the installation of today, not by that of the job (A12)', async () => {
      await putJobs(1);
      await testDb.db
        .updateTable('installations')
        .set({ installation_id: INSTALLATION + 7 })
        .execute();
      await note({ installationId: INSTALLATION + 7, remaining: 0 });
      expect(await matchAll(testDb.db)).toBe(0);
      expect(await findReasons(testDb.db)).toEqual({ linux: 'github_budget' });
    });

    test('makes no more workers of one installation in a minute than the secondary limit allows, and goes on in the next', async () => {
      await putJobs(5);
      await putJob(testDb.db, { entity_id: 7, entity_name: 'globex', installation_id: 7 });
      expect(await matchAll(testDb.db, { registrationsPerMinute: 3 })).toBe(3 + 1);
      expect(await findReasons(testDb.db)).toMatchObject({ gpu: 'github_budget' });
      await testDb.db
        .updateTable('workers')
        .set({
          created_at: new Date(Date.now() - 61_000),
          registration_started_at: new Date(Date.now() - 61_000),
        })
        .execute();
      expect(await matchAll(testDb.db, { registrationsPerMinute: 3 })).toBe(2);
      expect(await findReasons(testDb.db)).toMatchObject({ gpu: null });
    });
  });
});
