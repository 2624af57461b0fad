import { afterAll, beforeAll } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noteLife } from '@paddock/db/instance';
import { putPools } from '@paddock/testing/demand-rows';
import { createTestDatabase, type TestDatabase } from '@paddock/testing/database';
import { sharedAppKey } from '@paddock/testing/stand-ins';
import { startGitHubSimulator } from '@paddock/simulators/github/start-github-simulator';
import { startReceiver } from '@paddock/simulators/github/start-receiver';
import { startKubeSimulator } from '@paddock/simulators/kube/start-kube-simulator';
import { late } from '@paddock/testing/use-test-database';
import { examine } from '../doctor/doctor.ts';

export type Installation = Awaited<ReturnType<typeof install>>;

const APP = 1001;

/** A configuration file that has nothing to remark on. */
const configAt = (apiUrl: string) => ({
  github: { apiUrl, apps: [{ id: APP, privateKey: { env: 'APP_KEY' } }] },
  pools: [
    {
      name: 'linux',
      labels: ['self-hosted', 'linux'],
      image: 'ghcr.io/acme/runner:1',
      namespace: 'runners',
      registration: 'repository',
      maxWorkers: 5,
    },
  ],
  entities: { acme: { maxWorkers: 5 } },
});

type Config = ReturnType<typeof configAt>;

/** One healthy installation for the tests of a file. */
export function useInstallation(): Installation {
  let made: Installation;
  beforeAll(async () => {
    made = await install();
  });
  afterAll(() => made.stop());
  return late(() => made);
}

async function install() {
  const database = await createTestDatabase();
  const { privateKeyPem, publicKeyPem } = sharedAppKey();
  const receiver = await startReceiver();
  const app = { appId: APP, publicKeyPem, webhookSecret: 'unused', webhookUrl: receiver.url };
  const github = await startGitHubSimulator({ apps: [app] });
  await github.addOrganization({ login: 'acme' });
  await github.addRepository({ owner: 'acme', name: 'api' });
  const { id: installationId } = await github.install({ appId: APP, account: 'acme' });
  await github.settled();
  const kube = await startKubeSimulator({ namespaces: ['runners'], kubelet: false });
  const folder = mkdtempSync(join(tmpdir(), 'paddock-doctor-'));
  const file = join(folder, 'paddock.yaml');
  const configure = (change: (config: Config) => object = (config) => config): void =>
    writeFileSync(file, JSON.stringify(change(configAt(github.url))));
  configure();
  await putPools(database.db, { pools: [{}] });
  const environment = {
    DATABASE_URL: database.urlOf('scheduler'),
    PADDOCK_SCHEMA: database.schema,
    PADDOCK_CONFIG: file,
    PADDOCK_KUBECONFIG: kube.writeKubeconfig(),
    APP_KEY: privateKeyPem,
  };
  return {
    database,
    file,
    environment,
    github,
    kube,
    receiver,
    installationId,
    /** Writes the file anew. */
    configure,
    /** Every service has given a sign of life just now. */
    live: () => live(database),
    examine: (change: Readonly<Record<string, string | undefined>> = {}, aheadMs = 0) =>
      examine({ ...environment, ...change }, undefined, () => Date.now() + aheadMs),
    async stop(): Promise<void> {
      rmSync(folder, { recursive: true });
      await Promise.all([github.stop(), kube.stop(), receiver.stop()]);
      await database.drop();
    },
  };
}

async function live(database: TestDatabase): Promise<void> {
  for (const service of ['ingress', 'scheduler', 'reconciler'] as const)
    await noteLife(database.dbOf(service), service);
}
