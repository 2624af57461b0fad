import { rulesVariable } from '@paddock/runtime/rules';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { findMatchingSettings } from '@paddock/db/instance';
import { createAppKey } from '@paddock/simulators/github/app-key';
import { putInstallation } from '@paddock/testing/demand-rows';
import { startService } from '@paddock/testing/processes';
import { waitFor } from '@paddock/testing/wait-for';
import { type SchedulerWorld, startSchedulerWorld } from './scenes/scheduler.scene.ts';

const APP = 1001;
const OTHER_APP = 1002;
const MINTING = 'apps/create-installation-access-token';

describe('Apps that change while the scheduler runs (B2)', () => {
  let world: SchedulerWorld;
  let folder: string;
  let scheduler: Awaited<ReturnType<typeof startService>>;
  const path = (name: string) => join(folder, name);
  /** A reader finds all of the old file or all of the new one. */
  const write = async (name: string, text: string): Promise<void> => {
    await writeFile(path(`${name}.new`), text);
    await rename(path(`${name}.new`), path(name));
  };
  const useApps = (...ids: number[]) =>
    write(
      'paddock.yaml',
      JSON.stringify({
        github: {
          apiUrl: world.gitHub.url,
          apps: ids.map((id) => ({ id, privateKey: { file: path(`${id}.pem`) } })),
        },
        pools: world.pools.pools,
        entities: world.pools.entities,
      }),
    );
  const ready = async () =>
    (await fetch(`http://127.0.0.1:${scheduler.port}/readyz`)).text().then((text) => text.trim());
  const said = (message: string) => scheduler.lines().filter((line) => line.includes(message));
  const completed = async () =>
    (await world.workers()).filter(({ status }) => status === 'completed').length;
  /** Resolves once one more worker has ended well. */
  const untilDone = async (act: () => Promise<unknown>): Promise<void> => {
    const before = await completed();
    await act();
    await waitFor('a worker to end', async () => (await completed()) === before + 1);
  };
  const minted = async () => (await world.gitHub.report()).calls[MINTING] ?? 0;

  beforeAll(async () => {
    world = await startSchedulerWorld();
    folder = await mkdtemp(join(tmpdir(), 'paddock-changed-apps-'));
    await writeFile(path('kubeconfig'), world.kube.kubeconfig);
    await write(`${APP}.pem`, world.privateKeyPem);
    await write(`${OTHER_APP}.pem`, world.privateKeyPem);
    await useApps(APP);
    scheduler = await startService({
      app: 'scheduler',
      env: {
        DATABASE_URL: world.databaseUrl,
        PADDOCK_CONFIG: path('paddock.yaml'),
        PADDOCK_KUBECONFIG: path('kubeconfig'),
        PADDOCK_HEALTH_PORT: '0',
        PADDOCK_HTTP_HOST: '127.0.0.1',
        ...rulesVariable({ scheduler: { matchTickMs: 200 } }),
        PADDOCK_LOG_LEVEL: 'info',
      },
    });
  });
  afterAll(async () => {
    scheduler.kill('SIGTERM');
    await scheduler.exited;
    await world.stop();
    await rm(folder, { recursive: true });
  });

  test('an App that is removed makes no runner, and one that is added does', async () => {
    await putInstallation(world.db, {
      installation_id: world.installationId,
      entity_id: world.entityId,
      app_id: APP,
    });
    await useApps(OTHER_APP);
    await waitFor('the other App alone', async () => {
      const settings = await findMatchingSettings(world.db);
      return String(settings?.appIds) === String(OTHER_APP);
    });
    await world.queueJob();
    await waitFor('the job to be held', async () => {
      const keys = await world.db.selectFrom('demand_keys').select('wait_reason').execute();
      return keys[0]?.wait_reason === 'app_not_configured';
    });
    expect(await world.workers()).toEqual([]);
    await untilDone(() => useApps(OTHER_APP, APP));
  });

  test('a changed key is used, and none that cannot be read', async () => {
    await untilDone(() => world.queueJob());
    const before = await minted();

    await write(`${APP}.pem`, 'no key');
    const warning = await waitFor('the warning', async () => {
      const text = await ready();
      return text.startsWith('ready; changed GitHub Apps are refused') && text;
    });
    expect(warning).toContain(`The private key of GitHub App ${APP} cannot be read`);

    const { privateKeyPem, publicKeyPem } = createAppKey();
    await world.gitHub.setApp(APP, { publicKeyPem });
    await write(`${APP}.pem`, privateKeyPem);
    await waitFor(
      'the key to be used',
      () => said('the changed secret of a GitHub App').length > 0,
    );
    expect(await ready()).toBe('ready');
    await untilDone(() => world.queueJob());
    // Its token was minted with the new key: GitHub knows no other.
    expect(await minted()).toBe(before + 1);
    expect(said('changed GitHub Apps refused')).toHaveLength(1);
    expect(scheduler.lines().join('\n')).not.toMatch(/BEGIN RSA|[A-Za-z0-9+/]{120,}/);
  });
});
