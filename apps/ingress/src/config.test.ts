import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readIngressConfig } from './config.ts';

const CONFIG = `
github:
  apps:
    - { id: 7, webhookSecret: { env: NEW_SECRET }, previousWebhookSecret: { file: FOLDER/old } }
    - { id: 8, privateKey: { env: KEY } }
pools:
  - { name: small, labels: [linux], image: runner:1, namespace: runners }
entities: { '*': {} }
`;

describe('the ingress settings', () => {
  let folder: string;
  let good: Record<string, string>;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'paddock-config-'));
    writeFileSync(join(folder, 'old'), 'old secret\n');
    writeFileSync(join(folder, 'good.yaml'), CONFIG.replace('FOLDER', folder));
    good = {
      DATABASE_URL: 'postgresql://user:hidden@localhost/paddock',
      PADDOCK_CONFIG: join(folder, 'good.yaml'),
      NEW_SECRET: 'new secret',
    };
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const configured = (name: string, yaml: string): Record<string, string> => {
    writeFileSync(join(folder, name), yaml);
    return { ...good, PADDOCK_CONFIG: join(folder, name) };
  };

  test('Apps with a webhook secret are read, the previous secret too; the others are not ours (B2)', () => {
    const { apps } = readIngressConfig(good);
    expect(apps.map(({ id, secrets }) => [id, secrets.map((secret) => secret.reveal())])).toEqual([
      [7, ['new secret', 'old secret']],
    ]);
  });

  test('without any webhook secret the service does not start (B1)', () => {
    const none = 'github: { apps: [{ id: 8 }] }\npools: []\nentities: {}\n';
    const problem = expect.stringContaining(
      'no App has a webhookSecret, so no delivery could be verified',
    );
    expect(() => readIngressConfig(configured('none.yaml', none))).toThrow(
      expect.objectContaining({ name: 'ConfigError', problems: [problem] }),
    );
  });

  test.each([
    'webhookSecret: { env: NEW_SECRET }',
    'webhookSecret: { env: OTHER }, previousWebhookSecret: { file: FOLDER/old }',
  ])(
    'refuses two Apps with one secret, for a delivery names its App in an unsigned header: %s',
    (ofOther) => {
      const yaml = CONFIG.replace('privateKey: { env: KEY }', ofOther).replaceAll('FOLDER', folder);
      const env = { ...configured('shared.yaml', yaml), OTHER: 'secret of another App' };
      expect(() => readIngressConfig(env)).toThrow('Apps 7 and 8 share a webhook secret');
      expect(() => readIngressConfig(env)).not.toThrow(/new secret|old secret/);
    },
  );

  test.each<[string, Record<string, string>, string]>([
    [
      'less room for bodies than a large one and ordinary ones need',
      { PADDOCK_MAX_HELD_BYTES: '26214400' },
      'PADDOCK_MAX_HELD_BYTES must be at least 27262976: the largest body and 1 MB more',
    ],
    [
      'a secret whose variable is not set',
      { NEW_SECRET: '' },
      'The webhook secret of App 7 is read from the variable NEW_SECRET, which is not set',
    ],
  ])('%s is named', (_what, changes, problem) => {
    expect(() => readIngressConfig({ ...good, ...changes })).toThrow(problem);
  });
});
