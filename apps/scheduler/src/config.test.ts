import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { rulesVariable } from '@paddock/runtime/rules';
import { readSchedulerConfig } from './config.ts';

let folder: string;
let env: Record<string, string>;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'paddock-scheduler-config-'));
  const path = join(folder, 'paddock.yaml');
  // A service starts also with pools that it will not load.
  const pool = {
    name: 'linux',
    labels: ['linux'],
    image: 'runner:1',
    namespace: 'runners',
    containerMode: 'dind',
  };
  const apps = [{ id: 7, privateKey: { env: 'KEY_OF_7' } }];
  writeFileSync(path, JSON.stringify({ github: { apps }, pools: [pool], entities: { '*': {} } }));
  env = {
    DATABASE_URL: 'postgresql://localhost/paddock',
    PADDOCK_CONFIG: path,
    KEY_OF_7: 'the key itself',
  };
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('readSchedulerConfig', () => {
  test('has its defaults, and shows no private key, however it is printed (C1, C3, H1, H6)', () => {
    const config = readSchedulerConfig(env);
    expect(config).toMatchObject({ matchTickMs: 15_000, healthPort: 8081, kubeconfig: undefined });
    expect(JSON.stringify(config)).not.toContain('the key itself');
    expect(config.github.apps[0]?.privateKey.reveal()).toBe('the key itself');
  });

  test('names every problem at once (H1)', () => {
    const wrong = {
      ...env,
      KEY_OF_7: '',
      PADDOCK_SCHEDULER_POOL_SIZE: '1',
      PADDOCK_HEALTHPORT: '5',
      ...rulesVariable({ scheduler: { matchTickMs: 1 } }),
    };
    const read = () => readSchedulerConfig(wrong);
    for (const problem of [
      'KEY_OF_7',
      'scheduler.matchTickMs: must be at least 50',
      'between 4 and 1000',
      'did you mean',
    ]) {
      expect(read).toThrow(problem);
    }
  });
});
