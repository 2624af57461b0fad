import { beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { emptyAll, useTestDatabase } from '@paddock/testing/use-test-database';
import {
  examplePools,
  minutesAgo,
  putInstallation,
  putJob,
  putPools,
  putWorker,
} from '@paddock/testing/demand-rows';
import type { Db } from '../schema/tables.ts';
import { findJobsToLookUp } from '../jobs/look-ups.ts';
import { findDueRepositories } from '../jobs/repositories.ts';
import { findDemand } from '../matching/demand.ts';
import { findWarmKeys } from '../matching/reserve-workers.ts';
import { findOverdueWorkers } from '../workers/overdue-workers.ts';
import { findWorkerToStop } from '../workers/stopping-workers.ts';
import { findKnownScopes } from '../workers/registrations.ts';
import { findWorkerToProvision } from '../workers/workers.ts';
import { pinLogins, repairInstallation } from './installations.ts';
import { storePoolsDocument } from '../pools/pools-documents.ts';

const database = useTestDatabase();

const ACME = 90_000_001;
/**
 * The App of the rows, another one that is configured too, and one that was removed from the
 * configuration.
 */
const [OWN, OTHER] = [1001, 1002];
const REMOVED = 999;
const APP_IDS = [OWN, OTHER];
/** Of the rows; the entities' rows have the App's number instead. */
const OLD_INSTALLATION = 51_000_001;

interface Installed {
  readonly app: number;
  readonly minutes?: number;
  readonly state?: 'suspended' | 'deleted';
}

const before = (app: number): Installed => ({ app, minutes: 9 });

/** The known facts of the entity, the App of its rows, and the App that serves it. */
const CASES: readonly (readonly [string, readonly Installed[], number, number | undefined])[] = [
  ['the only App', [{ app: OWN }], OWN, OWN],
  ['its own App before one that was told of later', [before(OWN), { app: OTHER }], OWN, OWN],
  ['the App that replaced one not configured', [{ app: REMOVED }, before(OTHER)], REMOVED, OTHER],
  ['the App that works', [{ app: OWN, state: 'suspended' }, before(OTHER)], OWN, OTHER],
  ['of two others the one told of last', [before(OWN), { app: OTHER }], REMOVED, OTHER],
  ['no App, if the only one was uninstalled', [{ app: OWN, state: 'deleted' }], OWN, undefined],
];

/** Stores the known facts of the entity. */
const install = async (db: Db, known: readonly Installed[]): Promise<void> => {
  for (const { app, minutes = 0, state } of known) {
    await putInstallation(db, {
      entity_id: ACME,
      app_id: app,
      installation_id: app,
      suspended_at: state === 'suspended' ? new Date() : null,
      deleted_at: state === 'deleted' ? new Date() : null,
      stated_at: minutesAgo(minutes),
    });
  }
};

/** Everything that is to be done for the entity through GitHub, one of each. */
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
  return idle.pod_name;
}

const pools = examplePools({ pools: [{ warm: [{ scope: 'acme', workers: 1 }] }] });

beforeEach(async () => {
  await emptyAll(database.db);
  await putPools(database.db, pools);
});

const itself = (found: readonly { appId: number; installationId: number }[]) =>
  found.map((row) => [row.appId, row.installationId]);

test.each(CASES)(
  'an entity is served by %s in every sweep, task and pass, and in no sweep if no App may ask (A12)',
  async (_name, known, rowsApp, serving) => {
    const { db } = database;
    const appIds = APP_IDS;
    const expected = serving === undefined ? [] : [[serving, serving]];
    await install(db, known);
    const podName = await putWork(rowsApp);
    const found = [
      await findOverdueWorkers(db, { readingsApartMs: 0, appIds, limit: 9 }),
      await findKnownScopes(db, { madeWithinMs: 86_400_000, appIds }),
      await findJobsToLookUp(db, { batch: 9, secondLookMs: 1, appIds }),
      await findDueRepositories(db, { most: 9, activeMs: 86_400_000, appIds }),
    ];
    expect(found.map(itself)).toEqual(found.map(() => expected));
    // Where no App may ask, a worker is stopped without a call of GitHub.
    expect(await findWorkerToStop(db, podName, appIds)).toMatchObject(
      serving === undefined
        ? { isRefused: true }
        : { isRefused: false, appId: serving, installationId: serving },
    );
    expect(await findWorkerToProvision(db, podName, appIds)).toMatchObject({
      appId: serving ?? rowsApp,
      installationId: serving ?? OLD_INSTALLATION,
    });
    await db.deleteFrom('workers').execute();
    expect((await findDemand(db, appIds)).map(({ installationId }) => installationId)).toEqual([
      serving ?? OLD_INSTALLATION,
    ]);
    expect(await findWarmKeys(db, { lifetimeMs: 1, appIds })).toHaveLength(expected.length);
  },
);

test('the row’s App serves an unknown entity, if it is configured (A12)', async () => {
  const podName = await putWork(OWN);
  expect(await findWorkerToStop(database.db, podName, APP_IDS)).toMatchObject({
    appId: OWN,
    installationId: OLD_INSTALLATION,
    isRefused: false,
  });
  expect(await findWorkerToStop(database.db, podName, [OTHER])).toMatchObject({ isRefused: true });
});

/** As GitHub lists an entity named acme. */
const listed = (id: number) => ({
  appId: 7,
  entity: { id, login: 'acme', type: 'Organization' as const },
  installationId: id,
  repositorySelection: 'all',
  suspendedAt: null,
  isDeleted: false,
  statedAt: null,
});

const db = () => database.db;

const know = (login: string, entityId: number, isDeleted = false) =>
  putInstallation(db(), {
    entity_id: entityId,
    login,
    app_id: 7,
    installation_id: entityId,
    stated_at: minutesAgo(1),
    deleted_at: isDeleted ? minutesAgo(1) : null,
  });
const pins = async () => {
  const rows = await db()
    .selectFrom('login_pins')
    .select(['login', 'entity_id'])
    .orderBy('login')
    .execute();
  return Object.fromEntries(rows.map((row) => [row.login, row.entity_id]));
};
const pin = (entities: Parameters<typeof pinLogins>[1]) =>
  db()
    .transaction()
    .execute((trx) => pinLogins(trx, entities));
const entities = { Acme: {}, Globex: {}, initech: {}, 'id:5': {}, '*': {} };

describe('logins that are pinned', () => {
  test('when pools are loaded: logins of only one known entity', async () => {
    await know('ACME', 1);
    await know('globex', 2);
    await know('Globex', 3);
    await know('initech', 4, true);
    await know('hooli', 6);
    await know('umbrella', 7);
    const content = examplePools({ pools: [{ entities: ['Umbrella', 'hoo*'] }], entities });
    const store = (digest: string) => storePoolsDocument(db(), { content, digest });
    await store('one');
    expect(await pins()).toEqual({ acme: 1, umbrella: 7 });
    // The pin stays, although the entity of that name is another one now.
    await sql`update installations set login = case entity_id when 1 then 'renamed' else 'acme' end
      where entity_id in (1, 6)`.execute(db());
    await store('two');
    expect(await pins()).toEqual({ acme: 1, umbrella: 7 });
  });

  test('to the first entity with the login; not if an id or the star admits it', async () => {
    await putPools(db(), { entities });
    const owners = [
      { id: 9, login: 'ACME' },
      { id: 1, login: 'acme' },
      { id: 5, login: 'globex' },
      { id: 6, login: 'hooli' },
    ];
    expect(await pin(owners)).toEqual(new Set([1]));
    expect(await pins()).toEqual({ acme: 9 });
    expect(await pin([{ id: 2, login: 'Globex' }])).toEqual(new Set());
    expect(await pin(owners)).toEqual(new Set([1]));
    expect(await pins()).toEqual({ acme: 9, globex: 2 });
  });

  test('by GitHub’s list of an App; an entity under another one’s login is refused', async () => {
    await putPools(db(), { entities });
    for (const id of [1, 2]) {
      await db()
        .transaction()
        .execute((trx) => repairInstallation(trx, listed(id)));
    }
    expect(await pins()).toEqual({ acme: 1 });
    const events = await db()
      .selectFrom('installation_events')
      .select(['entity_id', 'outcome'])
      .orderBy('id')
      .execute();
    expect(events).toEqual([
      { entity_id: 1, outcome: 'ok' },
      { entity_id: 2, outcome: 'refused_entity' },
    ]);
  });
});
