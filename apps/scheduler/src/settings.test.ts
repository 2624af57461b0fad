import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { examplePools } from '@paddock/testing/demand-rows';
import { sharedAppKey } from '@paddock/testing/stand-ins';
import { useFolder } from '@paddock/testing/use-folder';
import { readSchedulerConfig } from './settings.ts';

const folder = useFolder();
const KEY = sharedAppKey().privateKeyPem.trim();
const env = {
  DATABASE_URL: 'postgresql://localhost/paddock',
  PADDOCK_CONFIG: join(folder, 'paddock.yaml'),
  KEY_OF_7: KEY,
};
// A service starts also with pools that no file may have.
const { pools, entities } = examplePools({ pools: [{ containerMode: 'dind' }] });
const github = { apps: [{ id: 7, privateKey: { env: 'KEY_OF_7' } }] };
writeFileSync(env.PADDOCK_CONFIG, JSON.stringify({ github, pools, entities, wrong: {} }));

test('the scheduler has its defaults, and shows no private key, however it is printed (C1, C3, H1, H6)', () => {
  const config = readSchedulerConfig(env);
  expect(config).toMatchObject({ matchTickMs: 15_000, healthPort: 8081, kubeconfig: undefined });
  expect(JSON.stringify(config)).not.toContain(JSON.stringify(KEY).slice(1, -1));
  expect(config.github.apps[0]?.privateKey.reveal()).toBe(KEY);
});
