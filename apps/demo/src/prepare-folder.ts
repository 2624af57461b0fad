import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeTemporaryFolder, removeFolder } from '@paddock/embedded-postgres/temporary-folder';
import { createAppKey } from '@paddock/simulators/github/app-key';
import { stringify } from 'yaml';
import { ENTITIES, ORGANISATION_APP, PERSONAL_APP } from './scenario.ts';

export interface DemoFolder {
  path: string;
  /** The Apps as the simulated GitHub needs them. */
  apps: { appId: number; publicKeyPem: string; webhookSecret: string }[];
  /** The variables that name the services' secrets. */
  secrets: Record<string, string>;
  /** Writes the configuration file once GitHub's address is known. */
  writeConfig(apiUrl: string, pools: readonly object[]): Promise<string>;
  remove(): Promise<void>;
}

/** Makes keys and secrets for the demo's two Apps, in files that only this user can read. */
export async function prepareFolder(randomText: () => string): Promise<DemoFolder> {
  const path = await makeTemporaryFolder(tmpdir());
  const keys = [ORGANISATION_APP, PERSONAL_APP].map((appId) => {
    const { privateKeyPem, publicKeyPem } = createAppKey();
    return { appId, webhookSecret: randomText(), privateKeyPem, publicKeyPem };
  });
  for (const { appId, privateKeyPem } of keys)
    await writeFile(join(path, `${appId}.pem`), privateKeyPem, { mode: 0o600 });
  return {
    path,
    apps: keys.map(({ appId, publicKeyPem, webhookSecret }) => ({
      appId,
      publicKeyPem,
      webhookSecret,
    })),
    secrets: Object.fromEntries(
      keys.map(({ appId, webhookSecret }) => [`WEBHOOK_SECRET_${appId}`, webhookSecret]),
    ),
    async writeConfig(apiUrl, pools) {
      const apps = keys.map(({ appId }) => ({
        id: appId,
        webhookSecret: { env: `WEBHOOK_SECRET_${appId}` },
        privateKey: { file: join(path, `${appId}.pem`) },
      }));
      const file = join(path, 'paddock.yaml');
      await writeFile(file, stringify({ github: { apiUrl, apps }, pools, entities: ENTITIES }), {
        mode: 0o600,
      });
      return file;
    },
    remove: () => removeFolder(path),
  };
}
