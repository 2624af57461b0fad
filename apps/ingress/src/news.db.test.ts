import { beforeEach, describe, expect, test } from '@jest/globals';
import { endRefusals, endRefusalsOfApp, recordRefusal } from '@paddock/db/entities/refusals';
import { createWaits } from '@paddock/db/entities/waits';
import { putInstallation } from '@paddock/testing/demand-rows';
import { emptyTables } from '@paddock/testing/empty-tables';
import { examplePayload, type JsonObject } from '@paddock/testing/example-payload';
import { useIngress } from './scenes/use-ingress.scene.ts';
import { APP, signed } from './scenes/ingress.scene.ts';

const { database, ingress } = useIngress();
const OTHER_APP = 8;
const ENTITY = { id: 71, login: 'octo' };
const [INSTALLATION, REPOSITORY] = [31, 91];
const OF_INSTALLATION = { appId: APP, entityId: ENTITY.id, installationId: INSTALLATION };

/** GitHub refuses the App, its installation and a repository, and has asked to wait. */
beforeEach(async () => {
  const { db } = database;
  await emptyTables(db, ['apps', 'installations', 'repositories', 'installation_events']);
  await putInstallation(db, {
    entity_id: ENTITY.id,
    login: ENTITY.login,
    app_id: APP,
    installation_id: INSTALLATION,
    stated_at: new Date('2026-01-02T00:00:00Z'),
    listed_at: new Date(),
  });
  await createWaits(db, () => undefined).note(OF_INSTALLATION, {
    ms: 60_000,
    message: 'slow down',
  });
  const call = { ...OF_INSTALLATION, repoId: REPOSITORY };
  for (const operation of ['GET /app', 'GET /orgs/octo/actions/runners', 'GET /repositories/91'])
    await recordRefusal(db, 'scheduler', {
      call,
      refusal: {
        kind: operation === 'GET /app' ? 'unauthorized' : 'forbidden',
        operation,
        message: 'no',
      },
    });
});

async function refused(): Promise<string[]> {
  const { db } = database;
  const tables = {
    app: 'apps',
    installation: 'installations',
    repository: 'repositories',
  } as const;
  const found = await Promise.all(
    Object.entries(tables).map(async ([what, table]) => {
      const rows = await db
        .selectFrom(table)
        .select('refused_until')
        .where('refused_since', 'is not', null)
        .execute();
      return rows.map(() => what);
    }),
  );
  return found.flat();
}

const DAY_LATER = '2026-01-03T00:00:00Z';
const account = { ...ENTITY, type: 'Organization' };
const installation = (given: JsonObject = {}) => ({
  installation: {
    id: INSTALLATION,
    account,
    suspended_at: null,
    updated_at: DAY_LATER,
    ...given,
  },
});
const send = async (event: string, payload: JsonObject) => {
  expect(await ingress.deliver(await signed(event, payload))).toMatchObject({ status: 200 });
};
/** As GitHub delivers it. */
const deliver = (event: string, action: string, more: JsonObject) => () =>
  send(event, examplePayload(event, action, more));
const rename = () =>
  send('installation_target', {
    action: 'renamed',
    account: { id: ENTITY.id, login: 'octo-next', updated_at: DAY_LATER },
    target_type: 'Organization',
    installation: { id: INSTALLATION },
    changes: { login: { from: ENTITY.login } },
  });
/** GitHub states nothing newer of an installation that is given repositories. */
const asBefore = installation({ updated_at: '2026-01-01T00:00:00Z' });

/** The table of docs/reconciler.md: what has changed, and the refusals that its news leave. */
const NEWS: readonly (readonly [cause: string, news: () => Promise<unknown>, left: string[]])[] = [
  ['the App is installed', deliver('installation', 'created', installation()), ['app']],
  [
    'the App is installed anew',
    deliver('installation', 'created', installation({ id: INSTALLATION + 1 })),
    ['app'],
  ],
  ['a suspension is lifted', deliver('installation', 'unsuspend', installation()), ['app']],
  [
    'new permissions are accepted',
    deliver('installation', 'new_permissions_accepted', installation()),
    ['app'],
  ],
  [
    'the App is given repositories',
    deliver('installation_repositories', 'added', asBefore),
    ['app'],
  ],
  [
    'repositories are taken from the App',
    deliver('installation_repositories', 'removed', asBefore),
    ['app'],
  ],
  ['the entity is renamed', rename, ['app']],
  [
    'the repository changes',
    deliver('repository', 'renamed', { repository: { id: REPOSITORY } }),
    ['app', 'installation'],
  ],
  ['the App has a new key', () => endRefusalsOfApp(database.db, APP), []],
  [
    'a call succeeds',
    () => endRefusals(database.db, { ...OF_INSTALLATION, repoId: REPOSITORY }),
    [],
  ],
];

describe('what news end, at once (C9)', () => {
  test('without any, all three are refused', async () => {
    expect(await refused()).toEqual(['app', 'installation', 'repository']);
  });

  test.each(NEWS)('%s', async (_cause, news, left) => {
    await news();
    expect(await refused()).toEqual(left);
  });

  test.each(NEWS.filter(([, , left]) => left.length === 1))(
    '%s: discovery lists its repositories anew, and what GitHub asked to wait for goes on',
    async (_cause, news) => {
      await news();
      const row = await database.db
        .selectFrom('installations')
        .select(['listed_at', 'updated_at', 'wait_message'])
        .executeTakeFirstOrThrow();
      expect(row.updated_at > (row.listed_at ?? row.updated_at)).toBe(true);
      expect(row.wait_message).toBe('slow down');
    },
  );

  test.each([
    ['of another entity', { account: { ...account, id: 72, login: 'other' }, id: 41 }],
    ['older than what GitHub has said since', { updated_at: '2026-01-01T00:00:00Z' }],
  ])('no news %s', async (_name, given) => {
    await deliver('installation', 'new_permissions_accepted', installation(given))();
    expect(await refused()).toEqual(['app', 'installation', 'repository']);
  });

  test('the App of another installation: its repositories go on with it (A12)', async () => {
    const { db } = database;
    await putInstallation(db, { entity_id: ENTITY.id, app_id: OTHER_APP, installation_id: 41 });
    expect(await refused()).toEqual(['app', 'installation']);
  });
});

test('a suspension that arrives after its end, although GitHub gives both one instant, does not come back (A12)', async () => {
  await deliver('installation', 'unsuspend', installation())();
  await deliver('installation', 'suspend', installation({ suspended_at: DAY_LATER }))();
  const row = database.db.selectFrom('installations').select('suspended_at');
  expect(await row.execute()).toEqual([{ suspended_at: null }]);
  const again = '2026-01-04T00:00:00Z';
  await deliver(
    'installation',
    'suspend',
    installation({ updated_at: again, suspended_at: again }),
  )();
  expect(await row.execute()).toEqual([{ suspended_at: new Date(again) }]);
});
