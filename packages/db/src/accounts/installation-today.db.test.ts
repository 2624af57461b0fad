import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@paddock/testing/database';
import { examplePools, putJob, putPools } from '@paddock/testing/demand-rows';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { findJobsToLookUp } from '../jobs/jobs-to-look-up.ts';
import { findDueRepositories, findInstallationByLogin } from '../jobs/repositories.ts';
import { findDemand } from '../matching/demand.ts';
import { emptyMatchingTables, GATE, matchOnce } from '../scenes/matching.scene.ts';
import { findUnservedKey } from '../matching/unserved-keys.ts';
import { findWarmKeys } from '../matching/warm-workers.ts';
import { findOverdueWorkers } from '../workers/overdue-workers.ts';
import { findLeftRegistrations } from '../workers/registrations.ts';
import { findWorkerToStop } from '../workers/stopping-workers.ts';
import { findKnownScopes } from '../workers/stray-registrations.ts';
import { findWorkerToProvision } from '../workers/workers.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const ACME = 90_000_001;
/** The App of the rows, another one that is configured too, and one that was removed from the configuration. */
const [OWN, OTHER, REMOVED] = [1001, 1002, 999];
const APP_IDS = [OWN, OTHER];
/** Of the rows; the accounts' rows have the App's number instead. */
const OLD_INSTALLATION = 51_000_001;

interface Installed {
  readonly app: number;
  readonly minutes?: number;
  readonly state?: 'suspended' | 'deleted';
}

/** What is known of the account, and which installation serves it. */
const CASES: readonly (readonly [name: string, known: readonly Installed[], rowsApp: number, serving: number | undefined])[] = [
  ['the only App', [{ app: OWN }], OWN, OWN],
  ['its own App before one that was told of later', [{ app: OWN, minutes: 9 }, { app: OTHER }], OWN, OWN],
  ['the App that replaced its own, which is not configured', [{ app: REMOVED }, { app: OTHER, minutes: 9 }], REMOVED, OTHER],
  [
    'the App that works, beside its own that is suspended',
    [
      { app: OWN, state: 'suspended' },
      { app: OTHER, minutes: 9 },
    ],
    OWN,
    OTHER,
  ],
  [
    'the App that works, beside its own that was uninstalled',
    [
      { app: OWN, state: 'deleted' },
      { app: OTHER, minutes: 9 },
    ],
    OWN,
    OTHER,
  ],
  ['of two others the one told of last', [{ app: OWN, minutes: 9 }, { app: OTHER }], REMOVED, OTHER],
  ['nobody, if the only App is suspended', [{ app: OWN, state: 'suspended' }], OWN, undefined],
  ['nobody, if the only App was uninstalled', [{ app: OWN, state: 'deleted' }], OWN, undefined],
  ['nobody, if the only App is not configured', [{ app: REMOVED }], REMOVED, undefined],
];

const install = async (known: readonly Installed[]) => {
  for (const { app, minutes = 0, state } of known) {
    const [suspended, deleted] = [state === 'suspended', state === 'deleted'].map((is) => (is ? new Date() : null));
    const account = { entity_id: ACME, login: 'acme', entity_type: 'Organization', app_id: app, installation_id: app } as const;
    const row = { ...account, suspended_at: suspended ?? null, deleted_at: deleted ?? null, stated_at: minutesAgo(minutes) };
    await database.db.insertInto('installations').values(row).execute();
  }
};

/** Everything that is to be done for the account through GitHub, one of each. */
async function putWork(app: number) {
  const { db } = database;
  const own = { app_id: app, installation_id: OLD_INSTALLATION };
  const old = {
    created_at: minutesAgo(60),
    running_at: minutesAgo(59),
    registration_started_at: minutesAgo(59),
    registered_at: minutesAgo(59),
  };
  const idle = await putWorker(db, { ...own, ...old, status: 'running', pod_uid: 'idle' });
  await putWorker(db, { ...own, ...old, status: 'failed', completed_at: minutesAgo(30) });
  await putJob(db, { ...own, lookup_due_at: new Date(0) });
  const repository = {
    repo_id: 780_000_001,
    entity_id: ACME,
    app_id: app,
    full_name: 'acme/api',
    active_at: new Date(),
    due_at: new Date(0),
  };
  await db.insertInto('repositories').values(repository).execute();
  const unserved = { demand_key: idle.demand_key, entity_id: ACME, scope_repo_id: 0, k8s_pool: 'linux', worker_created_at: new Date() };
  await db.insertInto('unserved_keys').values(unserved).execute();
  return { podName: idle.pod_name, demandKey: idle.demand_key };
}

const pools = examplePools({ pools: [{ warm: [{ scope: 'acme', workers: 1 }] }] });

beforeEach(async () => {
  await emptyMatchingTables(database.db);
  await database.db.deleteFrom('repositories').execute();
  await putPools(database.db, pools);
});

const itself = (found: readonly { appId: number; installationId: number }[]) => found.map((row) => [row.appId, row.installationId]);

describe.each(CASES)('an account is served by %s (A12)', (_name, known, rowsApp, serving) => {
  const expected = serving === undefined ? [] : [[serving, serving]];
  let work: Awaited<ReturnType<typeof putWork>>;
  beforeEach(async () => {
    await install(known);
    work = await putWork(rowsApp);
  });

  test('in every sweep, and in none if nobody may ask', async () => {
    const { db } = database;
    const found = {
      overdue: itself(await findOverdueWorkers(db, { readingsApartMs: 0, leniencyMs: 1, appIds: APP_IDS, limit: 9 })),
      left: itself(await findLeftRegistrations(db, { graceMs: 0, appIds: APP_IDS, limit: 9 })),
      scopes: itself(await findKnownScopes(db, { madeWithinMs: 86_400_000, appIds: APP_IDS })),
      lookUps: itself(await findJobsToLookUp(db, { batch: 9, perKey: 9, secondLookMs: 1, appIds: APP_IDS })),
      repositories: itself(await findDueRepositories(db, { most: 9, activeMs: 86_400_000, isActive: true, appIds: APP_IDS })),
    };
    expect(found).toEqual({ overdue: expected, left: expected, scopes: expected, lookUps: expected, repositories: expected });
  });

  test('in every task; where nobody may ask, GitHub is not asked before a worker is stopped', async () => {
    const { db } = database;
    const stop = await findWorkerToStop(db, work.podName, APP_IDS);
    expect(stop).toMatchObject(serving === undefined ? { isRefused: true } : { isRefused: false, appId: serving, installationId: serving });
    const provision = await findWorkerToProvision(db, work.podName, APP_IDS);
    expect(provision).toMatchObject({ appId: serving ?? rowsApp, installationId: serving ?? OLD_INSTALLATION });
  });

  test('in the matching of demand, and for workers that it makes', async () => {
    const { db } = database;
    await db.deleteFrom('workers').execute();
    expect((await findDemand(db, APP_IDS)).map(({ installationId }) => installationId)).toEqual([serving ?? OLD_INSTALLATION]);
    expect(await findWarmKeys(db, { lifetimeMs: 1, appIds: APP_IDS })).toHaveLength(expected.length);
    await db.deleteFrom('unserved_keys').execute();
    await matchOnce(db, { ...GATE, appIds: APP_IDS });
    const made = await db
      .selectFrom('workers')
      .select(['app_id as appId', 'installation_id as installationId'])
      .where('is_warm', '=', false)
      .execute();
    expect(itself(made)).toEqual(expected);
  });

  // Neither has an App of its own: where two may be used, it is the one that was told of last.
  test('wherever only the account is known', async () => {
    const usable = known.filter(({ app, state }) => state === undefined && APP_IDS.includes(app));
    const newest = usable.toSorted((a, b) => (a.minutes ?? 0) - (b.minutes ?? 0))[0]?.app;
    const byLogin = await findInstallationByLogin(database.db, 'ACME', APP_IDS);
    const unserved = await findUnservedKey(database.db, work.demandKey, APP_IDS);
    expect([byLogin?.appId, unserved?.appId]).toEqual([newest, newest]);
  });
});

test('the row’s App serves an unknown account, if it is configured (A12)', async () => {
  const { podName } = await putWork(OWN);
  expect(await findWorkerToStop(database.db, podName, APP_IDS)).toMatchObject({
    appId: OWN,
    installationId: OLD_INSTALLATION,
    isRefused: false,
  });
  expect(await findWorkerToStop(database.db, podName, [OTHER])).toMatchObject({ isRefused: true });
});

test.each([
  ['app_not_configured', [{ app: REMOVED }]],
  ['app_not_configured', [{ app: REMOVED }, { app: OWN, state: 'deleted' }]],
  ['installation_suspended', [{ app: OWN, state: 'suspended' }, { app: REMOVED }]],
  ['installation_gone', [{ app: OWN, state: 'deleted' }]],
] as const)('no worker is made where no App may be used, for the reason %s (P5)', async (reason, known) => {
  await install(known);
  await putJob(database.db);
  expect((await matchOnce(database.db, { ...GATE, appIds: APP_IDS })).reserved).toEqual([]);
  expect(await database.db.selectFrom('demand_keys').select('wait_reason').execute()).toEqual([{ wait_reason: reason }]);
});
