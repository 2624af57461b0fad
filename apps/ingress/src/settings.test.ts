import { describe, expect, test } from '@jest/globals';
import { useFolder } from '@paddock/testing/use-folder';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readIngressConfig } from './settings.ts';
import { configOf } from './scenes/ingress.scene.ts';

/** Of an App whose deliveries are not ours. */
const OTHERS = { privateKey: { env: 'KEY' } };

describe('the ingress settings', () => {
  const folder = useFolder();
  const inFile = () => ({ file: join(folder, 'old') });
  writeFileSync(inFile().file, 'old secret\n');
  /** The environment of a service with App 7, which has two secrets, and this one. */
  const env = (other: object, apps: readonly object[] = []) => {
    const webhookSecret = { env: 'NEW_SECRET' };
    const both = [
      { id: 7, webhookSecret, previousWebhookSecret: inFile() },
      { id: 8, ...other },
    ];
    const path = join(folder, 'paddock.yaml');
    writeFileSync(path, configOf({ apps: apps.length === 0 ? both : apps }));
    return {
      DATABASE_URL: 'postgresql://user:hidden@localhost/paddock',
      PADDOCK_CONFIG: path,
      NEW_SECRET: 'new secret\n',
      OTHER: 'secret of another App',
    };
  };

  test('Apps with a webhook secret are read, the previous secret too; the others are not ours (B2)', () => {
    const { apps } = readIngressConfig(env(OTHERS));
    expect(apps.map(({ id, secrets }) => [id, secrets.map((secret) => secret.reveal())])).toEqual([
      [7, ['new secret', 'old secret']],
    ]);
  });

  test('without any webhook secret the service does not start (B1)', () => {
    const problem = expect.stringContaining(
      'no App has a webhookSecret, so no delivery could be verified',
    );
    expect(() => readIngressConfig(env({}, [{ id: 8 }]))).toThrow(
      expect.objectContaining({ name: 'ConfigError', problems: [problem] }),
    );
  });

  test.each([
    ['', () => ({ webhookSecret: { env: 'NEW_SECRET' } })],
    [
      ' that is replaced',
      () => ({ webhookSecret: { env: 'OTHER' }, previousWebhookSecret: inFile() }),
    ],
  ])(
    'refuses two Apps with one secret%s, for a delivery names its App in an unsigned header',
    (_which, other) => {
      const shared = env(other());
      expect(() => readIngressConfig(shared)).toThrow('Apps 7 and 8 share a webhook secret');
      expect(() => readIngressConfig(shared)).not.toThrow(/new secret|old secret/);
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
    expect(() => readIngressConfig({ ...env(OTHERS), ...changes })).toThrow(problem);
  });
});
