import { renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeTemporaryFolder, removeFolder } from '@paddock/embedded-postgres/temporary-folder';
import { createAppKey } from '@paddock/simulators/github/app-key';
import { stringify } from 'yaml';

export interface DemoFolder {
  path: string;
  /** The Apps as the simulated GitHub needs them. */
  apps: { appId: number; publicKeyPem: string; webhookSecret: string }[];
  /** The variables that name the services' secrets. */
  secrets: Record<string, string>;
  /** Writes a configuration file, or another content of it. Returns its path. */
  writeConfig(name: string, config: DemoConfig): string;
  remove(): Promise<void>;
}

/** A pool of the configuration file: its name, and any of the keys of docs/pools.md. */
export interface DemoPool extends Readonly<Record<string, unknown>> {
  readonly name: string;
  readonly labels: readonly string[];
}

/** What the configuration file says. */
export interface DemoConfig {
  apiUrl: string;
  appIds: readonly number[];
  pools: readonly DemoPool[];
  entities: Readonly<Record<string, object>>;
}

/** Makes keys and secrets for the demo's Apps, in files that only this user can read. */
export async function prepareFolder(
  appIds: readonly number[],
  randomText: () => string,
): Promise<DemoFolder> {
  const path = await makeTemporaryFolder(tmpdir());
  const keys = appIds.map((appId) => {
    const { privateKeyPem, publicKeyPem } = createAppKey();
    return { appId, webhookSecret: randomText(), privateKeyPem, publicKeyPem };
  });
  for (const { appId, privateKeyPem } of keys)
    writeFileSync(join(path, `${appId}.pem`), privateKeyPem, { mode: 0o600 });
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
    writeConfig(name, { apiUrl, pools, entities, ...config }) {
      const apps = config.appIds.map((appId) => ({
        id: appId,
        webhookSecret: { env: `WEBHOOK_SECRET_${appId}` },
        privateKey: { file: join(path, `${appId}.pem`) },
      }));
      const file = join(path, name);
      const text = stringify({ github: { apiUrl, apps }, pools, entities });
      // A service must never read half of it.
      writeFileSync(`${file}.new`, text, { mode: 0o600 });
      renameSync(`${file}.new`, file);
      return file;
    },
    remove: () => removeFolder(path),
  };
}
