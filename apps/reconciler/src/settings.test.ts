import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { sharedAppKey } from '@paddock/testing/stand-ins';
import { readReconcilerConfig } from './settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'paddock-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('the reconciler’s configuration reports all problems at once: a missing key, an unknown name, a number out of range (H1, H6)', () => {
  const PADDOCK_CONFIG = join(folder, 'paddock.yaml');
  // A service starts also with pools that the scheduler will not load.
  const pool = { name: 'linux', labels: 'wrong' };
  const github = { apps: [{ id: 7, privateKey: { env: 'APP_KEY' } }] };
  writeFileSync(PADDOCK_CONFIG, JSON.stringify({ github, pools: [pool], entities: { '*': {} } }));
  const environment = { DATABASE_URL: 'postgresql://u:hidden@host/db', PADDOCK_CONFIG };
  const read = (more: object) => () => readReconcilerConfig({ ...environment, ...more });
  expect(read({ APP_KEY: sharedAppKey().privateKeyPem })()).toMatchObject({
    github: { apps: [{ appId: 7 }] },
  });
  const wrong = read({ APP_KEY: '', PADDOCK_KEEPDAYS: '1', PADDOCK_DRAIN_MS: '-1' });
  expect(wrong).toThrow('PADDOCK_DRAIN_MS must be between 0 and 3600000');
  expect(wrong).toThrow('private key of App 7 is read from the variable APP_KEY, which is not set');
  expect(wrong).toThrow('PADDOCK_KEEPDAYS is not a setting: did you mean PADDOCK_KEEP_DAYS?');
});
