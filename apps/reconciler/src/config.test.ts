import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { printSettings } from '@paddock/runtime/settings';
import { afterAll, describe, expect, test } from '@jest/globals';
import { readReconcilerConfig, settings } from './config.ts';

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
  test('has the defaults of the requirements', () => {
    expect(readReconcilerConfig(environment)).toMatchObject({
      redeliveryEverySeconds: 300,
      redeliverySpacingMs: 300_000,
      redeliveryRequestsPerMinute: 150,
      podGraceSucceededMs: 6 * 3_600_000,
      podGraceFailedMs: 6 * 3_600_000,
      registrationGraceMs: 1_200_000,
      poolSize: 24,
      github: { apiUrl: 'https://api.github.com', apps: [{ appId: 7 }] },
    });
  });

  test('reports all problems at once: a missing key, a cadence that cron cannot express, a number out of range', () => {
    const wrong = {
      ...environment,
      APP_KEY: '',
      PADDOCK_REDELIVERY_EVERY_SECONDS: '7',
      PADDOCK_REDELIVERY_REQUESTS_PER_MINUTE: '181',
      PADDOCK_KEEP_JOB_DAYS: '1',
      PADDOCK_GITHUB_TIMEOUT_MS: '0',
      PADDOCK_KUBE_TIMEOUT_MS: '0',
    };
    const problems = readProblems(wrong);
    expect(problems).toContain(
      'PADDOCK_REDELIVERY_EVERY_SECONDS must divide a minute, an hour or a day evenly, and is 7',
    );
    expect(problems).toContain('PADDOCK_REDELIVERY_REQUESTS_PER_MINUTE must be between 1 and 180');
    expect(problems).toContain('PADDOCK_GITHUB_TIMEOUT_MS must be between 100 and 600000');
    expect(problems).toContain('PADDOCK_KUBE_TIMEOUT_MS must be between 100 and 600000');
    expect(problems).toContain(
      'The private key of App 7 is read from the variable APP_KEY, which is not set',
    );
    expect(problems).toContain(
      'PADDOCK_KEEP_JOB_DAYS is not a setting: did you mean PADDOCK_KEEP_JOBS_DAYS?',
    );
  });

  test('is printed without its secrets', () => {
    const printed = printSettings(settings, readReconcilerConfig(environment));
    expect(printed).toContain('PADDOCK_REDELIVERY_EVERY_SECONDS=300');
    expect(printed).not.toContain('hidden');
    expect(JSON.stringify(readReconcilerConfig(environment))).not.toContain('the private key');
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
