import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { endRefusals, endRefusalsOfApp, recordRefusal } from '@paddock/db/entities/refusals';
import { createWaits } from '@paddock/db/entities/waits';
import type { TestDatabase } from '@paddock/testing/database';
import { putInstallation } from '@paddock/testing/demand-rows';
import { emptyTables } from '@paddock/testing/empty-tables';
import { type JsonObject, examplePayload } from '@paddock/testing/signed-delivery';
import { signedDelivery } from '@paddock/testing/signed-delivery';
import { waitFor } from '@paddock/testing/wait-for';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  APP,
  type Ingress,
  createIngressDatabase,
  signed,
  startIngress,
  useIngress,
} from './scenes/ingress.scene.ts';

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

/** A reader finds all of the old file or all of the new one. */
const write = (path: string, text: string): void => {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
};

const config = (...apps: string[]) => `
github: { apps: [${apps.join(', ')}] }
pools: [{ name: small, labels: [self-hosted, linux], image: runner:1, namespace: runners }]
entities: { '*': {} }
`;

describe('webhook secrets and Apps that change while ingress runs (B2)', () => {
  let another: TestDatabase;
  let replica: Ingress;
  const folder = mkdtempSync(join(tmpdir(), 'paddock-secrets-'));
  beforeAll(async () => {
    another = await createIngressDatabase();
  });
  afterAll(async () => {
    await another.drop();
    rmSync(folder, { recursive: true });
  });
  afterEach(() => replica.end('SIGTERM'));

  const source = (name: string) => `{ file: ${join(folder, name)} }`;
  const app = (id: number, secret: string, previous?: string) =>
    `{ id: ${id}, webhookSecret: ${source(secret)}${previous === undefined ? '' : `, previousWebhookSecret: ${source(previous)}`} }`;
  const start = async (...apps: string[]): Promise<void> => {
    replica = await startIngress({ ...another, config: config(...apps) });
    await replica.untilReady();
  };
  const ping = async (secret: string, appId = 7): Promise<number> => {
    const payload = { zen: randomUUID() };
    const delivery = await signedDelivery({ event: 'ping', payload, secret, appId });
    return (await replica.deliver(delivery)).status;
  };
  const untilAnswered = (status: number, secret: string, appId = 7) =>
    waitFor(`status ${status}`, async () => (await ping(secret, appId)) === status, {
      timeoutMs: 60_000,
    });

  test('a delivery is taken by the new secret of a changed file, and not by the old one', async () => {
    write(join(folder, 'secret'), 'the first secret');
    await start(app(7, 'secret'));
    expect(await ping('the first secret')).toBe(200);
    expect(await ping('the second secret')).toBe(401);
    write(join(folder, 'secret'), 'the second secret\n');
    await untilAnswered(200, 'the second secret');
    expect(await ping('the first secret')).toBe(401);
    expect(replica.lines().join('\n')).not.toMatch(/the (first|second) secret/);
  });

  test('an App that is added is taken, and one that is removed is not any longer', async () => {
    write(join(folder, 'secret'), 'a secret of 7');
    write(join(folder, 'of-eight'), 'a secret of 8');
    await start(app(7, 'secret'));
    expect(await ping('a secret of 8', 8)).toBe(401);
    write(replica.configPath, config(app(7, 'secret'), app(8, 'of-eight')));
    await untilAnswered(200, 'a secret of 8', 8);
    write(replica.configPath, config(app(8, 'of-eight')));
    await untilAnswered(401, 'a secret of 7');
    expect(await ping('a secret of 8', 8)).toBe(200);
  });

  test('what is invalid is refused once, and the secrets before stay, while pools may be wrong', async () => {
    write(join(folder, 'secret'), 'a good secret');
    await start(app(7, 'secret'));
    write(join(folder, 'secret'), '');
    const warning = await waitFor('the warning', async () => {
      const { text } = await replica.ask('/readyz');
      return text.startsWith('ready; changed GitHub Apps are refused') && text;
    });
    expect(warning).toContain('which is empty');
    expect(await ping('a good secret')).toBe(200);
    expect(await replica.metric('paddock_apps_refused')).toBe(1);
    write(replica.configPath, config(app(7, 'secret')).replace('labels', 'lable'));
    write(join(folder, 'secret'), 'another secret');
    await untilAnswered(200, 'another secret');
    expect((await replica.ask('/readyz')).text).toBe('ready');
    expect(await replica.metric('paddock_apps_refused')).toBe(0);
    expect(replica.lines().filter((line) => line.includes('Apps refused'))).toHaveLength(1);
  });
});
