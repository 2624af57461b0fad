import { beforeEach, describe, expect, test } from '@jest/globals';
import { recordRefusal } from '@paddock/db/entities/refusals';
import { createWaits } from '@paddock/db/entities/waits';
import { putInstallation } from '@paddock/testing/demand-rows';
import { useFolder } from '@paddock/testing/use-folder';
import { emptyTables, useTestDatabase } from '@paddock/testing/use-test-database';
import { type JsonObject, examplePayload, signedDelivery } from '@paddock/testing/signed-delivery';
import { waitFor } from '@paddock/testing/wait-for';
import { randomUUID } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  APP,
  type Ingress,
  configOf,
  createIngressDatabase,
  signed,
  useIngress,
  useIngresses,
} from './scenes/ingress.scene.ts';

const { database, ingress } = useIngress();
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

/** Which of the three are refused. */
async function refused(): Promise<string[]> {
  const found: string[] = [];
  for (const table of ['apps', 'installations', 'repositories'] as const) {
    const rows = database.db.selectFrom(table).select('refused_until');
    const inForce = await rows.where('refused_since', 'is not', null).execute();
    found.push(...inForce.map(() => table));
  }
  return found;
}

const DAY_LATER = '2026-01-03T00:00:00Z';
const DAY_BEFORE = '2026-01-01T00:00:00Z';
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
/** What has changed, and the refusals that its news leave. */
const NEWS: readonly (readonly [cause: string, news: () => Promise<unknown>, left: string[]])[] = [
  ['the App is installed', deliver('installation', 'created', installation()), ['apps']],
  ['a suspension is lifted', deliver('installation', 'unsuspend', installation()), ['apps']],
  [
    'the App is given repositories',
    // GitHub states nothing newer of the installation.
    deliver('installation_repositories', 'added', installation({ updated_at: DAY_BEFORE })),
    ['apps'],
  ],
  ['the entity is renamed', rename, ['apps']],
  [
    'the repository changes',
    deliver('repository', 'renamed', { repository: { id: REPOSITORY } }),
    ['apps', 'installations'],
  ],
  [
    'nothing newer than what GitHub has said since',
    deliver('installation', 'new_permissions_accepted', installation({ updated_at: DAY_BEFORE })),
    ['apps', 'installations', 'repositories'],
  ],
];

test.each(NEWS)('news end at once what GitHub refused: %s (C9)', async (_cause, news, left) => {
  await news();
  expect(await refused()).toEqual(left);
  if (left.length !== 1) return;
  // Discovery lists its repositories anew, and what GitHub asked to wait for goes on.
  const row = await database.db
    .selectFrom('installations')
    .select(['listed_at', 'updated_at', 'wait_message'])
    .executeTakeFirstOrThrow();
  expect(row.updated_at > (row.listed_at ?? row.updated_at)).toBe(true);
  expect(row.wait_message).toBe('slow down');
});

/** A reader finds all of the old file or all of the new one. */
const write = (path: string, text: string): void => {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
};

const ping = async (replica: Ingress, secretOfApp: string, appId = 7): Promise<number> => {
  const payload = { zen: randomUUID() };
  const delivery = await signedDelivery({ event: 'ping', payload, secret: secretOfApp, appId });
  return (await replica.deliver(delivery)).status;
};
const untilAnswered = (status: number, ...sent: Parameters<typeof ping>) =>
  waitFor(`status ${status}`, async () => (await ping(...sent)) === status, {
    timeoutMs: 60_000,
  });

describe('webhook secrets and Apps that change while ingress runs (B2)', () => {
  const start = useIngresses(useTestDatabase(createIngressDatabase));
  const folder = useFolder();

  const secret = (appId: number, text: string) => write(join(folder, String(appId)), text);
  const config = (id: number) =>
    configOf({ apps: [{ id, webhookSecret: { file: join(folder, String(id)) } }] });

  test('a delivery is taken by the new secret of a changed file, and by that of an added App; the old ones end', async () => {
    secret(7, 'the first secret');
    secret(8, 'a secret of 8');
    const replica = await start({ config: config(7) });
    await replica.untilReady();
    expect(await ping(replica, 'the first secret')).toBe(200);
    expect(await ping(replica, 'the second secret')).toBe(401);
    secret(7, 'the second secret\n');
    await untilAnswered(200, replica, 'the second secret');
    expect(await ping(replica, 'the first secret')).toBe(401);
    expect(await ping(replica, 'a secret of 8', 8)).toBe(401);
    write(replica.configPath, config(8));
    await untilAnswered(200, replica, 'a secret of 8', 8);
    expect(await ping(replica, 'the second secret')).toBe(401);
    expect(replica.lines().join('\n')).not.toMatch(/the (first|second) secret/);
  });

  test('what is invalid is refused once, and the secrets before stay, while pools may be wrong', async () => {
    secret(7, 'a good secret');
    const replica = await start({ config: config(7) });
    await replica.untilReady();
    secret(7, '');
    const warning = await waitFor('the warning', async () => {
      const { text } = await replica.ask('/readyz');
      return text.startsWith('ready; changed GitHub Apps are refused') && text;
    });
    expect(warning).toContain('which is empty');
    expect(await ping(replica, 'a good secret')).toBe(200);
    expect(await replica.metric('paddock_apps_refused')).toBe(1);
    write(replica.configPath, config(7).replace('labels', 'lable'));
    secret(7, 'another secret');
    await untilAnswered(200, replica, 'another secret');
    expect((await replica.ask('/readyz')).text).toBe('ready');
    expect(await replica.metric('paddock_apps_refused')).toBe(0);
    expect(replica.lines().filter((line) => line.includes('Apps refused'))).toHaveLength(1);
  });
});
