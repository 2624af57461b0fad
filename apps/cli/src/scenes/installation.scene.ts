import { afterAll, beforeAll } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noteLife } from '@paddock/db/instance';
import { examplePools, putPools } from '@paddock/testing/demand-rows';
import type { TestDatabase } from '@paddock/testing/database';
import { createTestDatabase } from '@paddock/testing/database';
import { late } from '@paddock/testing/use-test-database';
import { examine } from '../doctor/doctor.ts';

export type Installation = Awaited<ReturnType<typeof install>>;

/** A configuration file that has nothing to remark on. */
const CONFIG = {
  github: { apps: [{ id: 1001, privateKey: { env: 'APP_KEY' } }] },
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
};

type Config = typeof CONFIG;

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
  const folder = mkdtempSync(join(tmpdir(), 'paddock-doctor-'));
  const file = join(folder, 'paddock.yaml');
  const configure = (change: (config: Config) => object = (config) => config): void =>
    writeFileSync(file, JSON.stringify(change(structuredClone(CONFIG))));
  configure();
  await putPools(database.db, examplePools({ pools: [{}] }));
  const environment = {
    DATABASE_URL: database.urlOf('scheduler'),
    PADDOCK_SCHEMA: database.schema,
    PADDOCK_CONFIG: file,
  };
  return {
    database,
    file,
    environment,
    /** Writes the file anew. */
    configure,
    /** Every service has given a sign of life just now. */
    live: () => live(database),
    examine: (change: Readonly<Record<string, string | undefined>> = {}, aheadMs = 0) =>
      examine({ ...environment, ...change }, undefined, () => Date.now() + aheadMs),
    async stop(): Promise<void> {
      rmSync(folder, { recursive: true });
      await database.drop();
    },
  };
}

async function live(database: TestDatabase): Promise<void> {
  for (const service of ['ingress', 'scheduler', 'reconciler'] as const)
    await noteLife(database.dbOf(service), service);
}
