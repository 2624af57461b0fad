import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { readReconcilerConfig } from './config.ts';

const folder = mkdtempSync(join(tmpdir(), 'paddock-config-'));
const PADDOCK_CONFIG = join(folder, 'paddock.yaml');
const github = { apps: [{ id: 7, privateKey: { env: 'APP_KEY' } }] };
// A service starts also with pools that the scheduler will not load.
const untrusted = {
  name: 'linux',
  labels: ['linux'],
  image: 'runner:1',
  namespace: 'runners',
  containerMode: 'dind',
};
writeFileSync(
  PADDOCK_CONFIG,
  JSON.stringify({ github, pools: [untrusted], entities: { '*': {} } }),
);
afterAll(() => rmSync(folder, { recursive: true }));

const environment = {
  DATABASE_URL: 'postgresql://u:hidden@host/db',
  PADDOCK_CONFIG,
  APP_KEY: 'the private key',
};

describe('the reconciler’s configuration (H1, H6)', () => {
  test('reports all problems at once: a missing key, an unknown name, a number out of range', () => {
    const wrong = {
      ...environment,
      APP_KEY: '',
      PADDOCK_KEEPDAYS: '1',
      PADDOCK_DRAIN_MS: '-1',
    };
    const problems = readProblems(wrong);
    expect(problems).toContain('PADDOCK_DRAIN_MS must be between 0 and 3600000');
    expect(problems).toContain(
      'The private key of App 7 is read from the variable APP_KEY, which is not set',
    );
    expect(problems).toContain(
      'PADDOCK_KEEPDAYS is not a setting: did you mean PADDOCK_KEEP_DAYS?',
    );
  });

  test('takes no cadence that cron would tick unevenly', () => {
    const PADDOCK_RULES = '{ reconciler: { redeliveryEverySeconds: 7 } }';
    expect(readProblems({ ...environment, PADDOCK_RULES })).toContain(
      'redeliveryEverySeconds must divide a minute, an hour or a day evenly, and is 7',
    );
  });
});

function readProblems(given: Record<string, string>): string {
  try {
    readReconcilerConfig(given);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return '';
}
