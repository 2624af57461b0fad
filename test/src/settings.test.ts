import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'paddock-settings-'));
afterAll(() => rmSync(folder, { recursive: true }));

const start = (app: string, env: Record<string, string>, ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(ROOT, 'apps', app, 'src', 'main.ts'), ...args], {
    env,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
};

const write = (name: string, content: string): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

describe.each(['ingress', 'scheduler', 'reconciler'])('%s', (app) => {
  test('starts with nothing set by saying everything that is missing, without a stack (H1)', () => {
    const { status, stderr } = start(app, {});
    expect(status).toBe(1);
    expect(stderr).toContain('DATABASE_URL is not set');
    expect(stderr).toContain('PADDOCK_CONFIG is not set');
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  test('takes another service’s setting for none of its own: all may share one environment (H1)', () => {
    const page = readFileSync(join(ROOT, 'docs', 'settings.md'), 'utf8');
    const all = [...page.matchAll(/\bPADDOCK_[A-Z_]+\b/g)].map(([name]) => [name, 'x']);
    expect(all.length).toBeGreaterThan(50);
    expect(start(app, Object.fromEntries(all)).stderr).not.toContain('did you mean');
  });

  test('tells every wrong setting and every fault of the file in one message, and shows no secret (H1, H6)', () => {
    const file = write(
      'wrong.yaml',
      'github: { apps: [{ id: 1, webhookSecret: { env: NOT_SET }, privateKey: { file: /nowhere.pem } }] }\npools: [{ name: Bad, labels: [] }]\n',
    );
    const { status, stderr } = start(app, {
      DATABASE_URL: 'mysql://user:hunter2@host/db',
      PADDOCK_SCHEMA: 'Upper',
      PADDOCK_LOG_LEVEL: 'loud',
      PADDOCK_DRAIN_MS: 'soon',
      PADDOCK_CONFIG: file,
      PADDOCK_SCHEMAA: 'x',
    });
    expect(status).toBe(1);
    for (const part of [
      'DATABASE_URL must',
      'PADDOCK_SCHEMA must',
      'PADDOCK_LOG_LEVEL must',
      'PADDOCK_DRAIN_MS must',
      'did you mean PADDOCK_SCHEMA?',
    ]) {
      expect(stderr).toContain(part);
    }
    expect(stderr).toContain('pools.0.name');
    expect(stderr).toContain('entities');
    expect(stderr).not.toContain('hunter2');
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  test('--print-config shows the values in force, secrets masked, and starts nothing', () => {
    const key = write('key.pem', 'a private key that nobody must see');
    const file = write(
      'good.yaml',
      `github: { apps: [{ id: 1, webhookSecret: { env: HOOK }, privateKey: { file: ${key} } }] }\npools: []\nentities: {}\n`,
    );
    const { status, stdout, stderr } = start(
      app,
      { DATABASE_URL: 'postgresql://user:hunter2@127.0.0.1:1/db', PADDOCK_CONFIG: file, HOOK: 'sesame' },
      '--print-config',
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('DATABASE_URL=[secret]');
    expect(stdout).toContain('PADDOCK_SCHEMA=paddock');
    for (const value of ['hunter2', 'sesame', 'nobody must see']) expect(stdout).not.toContain(value);
  });

  test('an unknown option is refused instead of being passed over', () => {
    const file = write(
      'empty.yaml',
      'github: { apps: [{ id: 1, webhookSecret: { env: HOOK }, privateKey: { env: HOOK } }] }\npools: []\nentities: {}\n',
    );
    const env = { DATABASE_URL: 'postgresql://user@127.0.0.1:1/db', PADDOCK_CONFIG: file, HOOK: 'sesame' };
    const { status, stderr } = start(app, env, '--print-confg');
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringContaining('--print-confg is not an option; there is --print-config'),
    });
  });
});
