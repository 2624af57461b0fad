import { describe, expect, test } from '@jest/globals';
import { readIngressConfig } from '@paddock/ingress/settings';
import { readReconcilerConfig } from '@paddock/reconciler/settings';
import { ConfigError } from '@paddock/runtime/config-error';
import { readSchedulerConfig } from '@paddock/scheduler/settings';
import { appProgram, startService } from '@paddock/testing/processes';
import { sharedAppKey } from '@paddock/testing/stand-ins';
import { useFolder } from '@paddock/testing/use-folder';
import { waitFor } from '@paddock/testing/wait-for';
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const folder = useFolder();

/** Starts a service as the run has bundled it; from its sources where this file runs alone. */
const start = (app: string, env: Record<string, string>, ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [appProgram(app), ...args], {
    env,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
};

const SERVICES = [
  { app: 'ingress', read: readIngressConfig },
  { app: 'scheduler', read: readSchedulerConfig },
  { app: 'reconciler', read: readReconcilerConfig },
];

/**
 * A service's complaint about its settings instead of a start: `main` prints it without a stack.
 * Empty if it starts.
 */
function problemsOf(read: () => unknown): string {
  try {
    read();
    return '';
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}

const write = (name: string, content: string): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

describe.each(SERVICES)('$app', ({ app, read }) => {
  test('ignores another service’s settings: all may share one environment (H1)', () => {
    const page = readFileSync(join(ROOT, 'docs', 'settings.md'), 'utf8');
    const all = [...page.matchAll(/\bPADDOCK_[A-Z_]+\b/g)].map(([name]) => [name, 'x']);
    expect(all.length).toBeGreaterThan(20);
    const problems = problemsOf(() => read(Object.fromEntries(all)));
    expect(problems).toContain('DATABASE_URL is not set');
    expect(problems).not.toContain('did you mean');
  });

  test('reports every wrong setting and every fault of the file in one message, without a stack, and shows no secret (H1, H6)', () => {
    const file = write(
      'wrong.yaml',
      'github: { apps: [{ id: 1, webhookSecret: { env: NOT_SET }, privateKey: { file: /nowhere.pem } }] }\npools: [{ name: Bad, labels: [] }]\n',
    );
    const { status, stdout, stderr } = start(app, {
      DATABASE_URL: 'mysql://user:hunter2@host/db',
      PADDOCK_SCHEMA: 'Upper',
      PADDOCK_LOG_LEVEL: 'loud',
      PADDOCK_DRAIN_MS: 'soon',
      PADDOCK_CONFIG: file,
      PADDOCK_SCHEMAA: 'x',
    });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    for (const name of ['DATABASE_URL', 'PADDOCK_SCHEMA', 'PADDOCK_LOG_LEVEL', 'PADDOCK_DRAIN_MS'])
      expect(stderr).toContain(`${name} must`);
    for (const part of ['did you mean PADDOCK_SCHEMA?', 'pools.0.name', 'entities'])
      expect(stderr).toContain(part);
    expect(stderr).not.toContain('hunter2');
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  test('--print-config shows the values in force, secrets masked, and starts nothing', () => {
    const { privateKeyPem } = sharedAppKey();
    const key = write('key.pem', privateKeyPem);
    const file = write(
      'good.yaml',
      `github: { apps: [{ id: 1, webhookSecret: { env: HOOK }, privateKey: { file: ${key} } }] }\npools: []\nentities: {}\n`,
    );
    const env = {
      DATABASE_URL: 'postgresql://user:hunter2@127.0.0.1:1/db',
      PADDOCK_CONFIG: file,
      HOOK: 'sesame',
    };
    const { status, stdout, stderr } = start(app, env, '--print-config');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('DATABASE_URL=[secret]');
    expect(stdout).toContain('PADDOCK_SCHEMA=paddock');
    for (const value of ['hunter2', 'sesame', privateKeyPem.slice(100, 120)])
      expect(stdout).not.toContain(value);
    expect(start(app, env, '--print-confg').stderr).toContain(
      '--print-confg is not an option; there is --print-config',
    );
  });
});

describe('a service that starts with a wrong file (B2, H1)', () => {
  const github = {
    apps: [{ id: 1, webhookSecret: { env: 'KEY' }, privateKey: { env: 'KEY' } }],
  };
  const proxy = { peers: ['10.0.0.1'] };
  const clusters = [{ name: 'c', cluster: { server: 'http://127.0.0.1:1' } }];
  const contexts = [{ name: 'c', context: { cluster: 'c', user: 'u' } }];

  test.each([
    ['ingress', { github: {} }, 'github.apps: is missing'],
    ['scheduler', { github: {} }, 'github.apps: is missing'],
    ['reconciler', { github: { apps: [{ id: 1 }] } }, 'private key of App 1 is not configured'],
    ['console', { groups: {}, proxy }, 'groups: must name a group'],
  ] as const)('%s is alive, and says %j: %s', async (app, wrong, why) => {
    const path = write(`${app}.yaml`, JSON.stringify(wrong));
    const service = await startService({
      app,
      env: {
        DATABASE_URL: 'postgresql://127.0.0.1:1/db',
        PADDOCK_CONFIG: path,
        PADDOCK_SIGN_IN: path,
        PADDOCK_KUBECONFIG: write(
          'kubeconfig',
          JSON.stringify({
            clusters,
            contexts,
            users: [{ name: 'u', user: { token: 't' } }],
            'current-context': 'c',
          }),
        ),
        KEY: sharedAppKey().privateKeyPem,
      },
    });
    const get = (about: string) => fetch(`http://127.0.0.1:${service.healthPort}${about}`);
    expect((await get('/healthz')).status).toBe(200);
    const ready = await get('/readyz');
    expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining(why)]);
    // The pools are wrong still: they are the scheduler's to refuse, beside those in force.
    const right = app === 'console' ? { groups: { read: ['a'] }, proxy } : { github, pools: 7 };
    write(`${app}.yaml`, JSON.stringify(right));
    await waitFor(
      'the start',
      () => service.lines().filter((line) => line.includes('"listening"')).length === 2,
    );
    service.kill('SIGTERM');
    expect(await service.exited).toMatchObject({ code: 0 });
    expect(service.lines().filter((line) => line.includes('refused: the service'))).toHaveLength(1);
  });
});

const APPS = readdirSync(join(ROOT, 'apps'));

describe('node apps/NAME (H1)', () => {
  test.each(APPS)('%s says which Node.js it needs, and which is at hand', (app) => {
    const program = JSON.stringify(join(ROOT, 'apps', app));
    // An older Node.js: this one calls itself so.
    const script = `Object.defineProperty(process.versions, 'node', { value: '20.20.2' });
      process.argv[1] = ${program};
      require(${program});`;
    const { status, stderr } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' });
    expect(stderr).toMatch(
      /^Paddock needs Node\.js 22\.18 or newer and was started with 20\.20\.2\.\n/,
    );
    expect(status).toBe(1);
  });

  test('starts the app with its arguments', () => {
    const { status, stdout } = spawnSync(process.execPath, [join(ROOT, 'apps', 'cli'), '--help'], {
      encoding: 'utf8',
    });
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: expect.stringContaining('paddock pools check FILE'),
    });
  });
});
