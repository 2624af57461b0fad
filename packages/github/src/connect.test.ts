import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ConfigError } from '@paddock/runtime/config-error';
import { createAppKey } from '@paddock/simulators/github/app-key';
import { type SmallWorld, startSmallWorld } from '@paddock/simulators/scenes/small-world.scene';
import { generateKeyPairSync, verify } from 'node:crypto';
import { parsePrivateKey, signAppJwt } from './credentials.ts';
import type { GitHub, GitHubOptions } from './connect.ts';
import { classifyGitHubError } from './errors.ts';
import { getApp } from './installations.ts';
import { createJitConfig, listRunners } from './runners.ts';
import { connectSmallWorld } from './scenes/connect-small-world.scene.ts';

const ACME = { kind: 'organization', owner: 'acme' } as const;
const MINT = 'apps/create-installation-access-token';

let world: SmallWorld;
let now: number;
beforeEach(async () => {
  now = Date.now();
  world = await startSmallWorld({ now: () => now });
});
afterEach(() => world.github.stop());

const connect = (options: Partial<GitHubOptions> = {}): GitHub =>
  connectSmallWorld(world, { now: () => now, ...options });

const failureOf = (call: Promise<unknown>) => call.then(() => undefined, classifyGitHubError);
const calls = async () => (await world.github.report()).calls;

describe('tokens (C7)', () => {
  test('an installation’s token is minted once, also for simultaneous calls, and kept', async () => {
    const github = connect();
    const client = github.asInstallation(world.organization);
    await Promise.all(Array.from({ length: 5 }, () => listRunners(client, ACME)));
    await listRunners(github.asInstallation(world.organization), ACME);
    expect(await calls()).toEqual({ [MINT]: 1, 'actions/list-self-hosted-runners-for-org': 6 });
  });

  test('a token is minted anew shortly before its hour is over', async () => {
    const client = connect().asInstallation(world.organization);
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now);
    try {
      await listRunners(client, ACME);
      now += 58 * 60_000;
      await listRunners(client, ACME);
      expect(await calls()).toMatchObject({ [MINT]: 1 });
      now += 90_000;
      await listRunners(client, ACME);
      expect(await calls()).toMatchObject({ [MINT]: 2 });
    } finally {
      clock.mockRestore();
    }
  });

  test('each installation has another token', async () => {
    const github = connect();
    await listRunners(github.asInstallation(world.organization), ACME);
    await listRunners(github.asInstallation(world.user), {
      kind: 'repository',
      owner: 'mona',
      repo: 'tool',
    });
    expect(await calls()).toMatchObject({ [MINT]: 2 });
  });

  test('a token refused before its time is dropped: that call fails, and the next one mints anew', async () => {
    const client = connect().asInstallation(world.organization);
    await listRunners(client, ACME);
    await world.github.failNext({ path: '/actions/runners$', status: 401 });
    expect(await failureOf(listRunners(client, ACME))).toMatchObject({
      kind: 'outdated',
      status: 401,
    });
    expect(await listRunners(client, ACME)).toEqual([]);
    await listRunners(client, ACME);
    expect(await calls()).toMatchObject({ [MINT]: 2 });
  });

  test('a refused call is not repeated, even with a young token', async () => {
    const client = connect().asInstallation(world.organization);
    await world.github.failNext({ path: '/actions/runners$', status: 401, times: 3 });
    expect(await failureOf(listRunners(client, ACME))).toMatchObject({ kind: 'unauthorized' });
    expect(await calls()).toMatchObject({ 'actions/list-self-hosted-runners-for-org': 1 });
  });

  test('calls for an installation that is gone or suspended fail as its token does (C9)', async () => {
    const client = connect().asInstallation(world.organization);
    await world.github.suspend(world.organization.installationId);
    const operation = `POST /app/installations/${world.organization.installationId}/access_tokens`;
    expect(await failureOf(listRunners(client, ACME))).toMatchObject({
      kind: 'forbidden',
      status: 403,
      operation,
    });
    await world.github.uninstall(world.organization.installationId);
    expect(await failureOf(listRunners(client, ACME))).toMatchObject({
      kind: 'not_found',
      status: 404,
      operation,
    });
  });
});

const anHourAhead = () => Date.now() + 3_600_000;

test('calls for an unknown installation fail as for one that is gone, without a call', async () => {
  const failure = await failureOf(
    listRunners(connect().asInstallation({ ...world.organization, installationId: 0 }), ACME),
  );
  expect(failure).toMatchObject({
    kind: 'not_found',
    status: 404,
    operation: 'POST /app/installations/0/access_tokens',
  });
  expect(await calls()).toEqual({});
});

describe('an App', () => {
  test('speaks for itself with a JSON web token', async () => {
    expect(await getApp(connect().asApp(world.appId))).toMatchObject({ events: ['workflow_job'] });
  });

  test('stops the start when its key cannot be read, and the key is not shown', () => {
    expect(() => connect({ apps: [{ appId: 7, privateKey: 'no key at all' }] })).toThrow(
      'private key of GitHub App 7',
    );
    expect(() => connect({ apps: [{ appId: 7, privateKey: 'no key at all' }] })).not.toThrow(
      'no key at all',
    );
  });

  test('is refused by name and without a call when it is not configured, as one with another key is (C9)', async () => {
    const refused = { kind: 'unauthorized', message: expect.stringContaining('GitHub App 99') };
    expect(await failureOf(getApp(connect().asApp(99)))).toMatchObject(refused);
    const operation = 'POST /app/installations/5/access_tokens';
    expect(
      await failureOf(
        listRunners(connect().asInstallation({ appId: 99, installationId: 5, entityId: 7 }), ACME),
      ),
    ).toMatchObject({
      ...refused,
      operation,
    });
    expect(await calls()).toEqual({});
  });

  test('learns GitHub’s time from the first refusal when the clock is an hour off', async () => {
    const github = connect({ now: anHourAhead });
    const client = github.asApp(world.appId);
    expect(await failureOf(getApp(client))).toMatchObject({ kind: 'outdated' });
    expect(await getApp(client)).toMatchObject({ events: ['workflow_job'] });
  });

  test('is not blamed for calls that were under way when it learnt the time, and is blamed for another key', async () => {
    const github = connect({ now: anHourAhead });
    const client = github.asApp(world.appId);
    const ofAcme = github.asInstallation(world.organization);
    const ofMona = github.asInstallation(world.user);
    const tool = { kind: 'repository', owner: 'mona', repo: 'tool' } as const;
    const atOnce = [
      getApp(client),
      getApp(client),
      listRunners(ofAcme, ACME),
      listRunners(ofMona, tool),
    ];
    for (const failure of await Promise.all(atOnce.map(failureOf)))
      expect(failure).toMatchObject({ kind: 'outdated' });
    expect(await listRunners(ofAcme, ACME)).toEqual([]);

    const stranger = connect({
      now: anHourAhead,
      apps: [{ appId: world.appId, privateKey: createAppKey().privateKeyPem }],
    }).asApp(world.appId);
    expect(await failureOf(getApp(stranger))).toMatchObject({ kind: 'outdated' });
    expect(await failureOf(getApp(stranger))).toMatchObject({ kind: 'unauthorized' });
  });
});

describe('budgets', () => {
  test('are read from every answer, per installation and resource', async () => {
    const github = connect();
    const { installationId } = world.organization;
    expect(github.budgetOf(installationId)).toBeUndefined();
    await listRunners(github.asInstallation(world.organization), ACME);
    expect(github.budgetOf(installationId)).toMatchObject({ limit: 5000, remaining: 5000 - 1 });
    const jit = { name: 'one', labels: ['linux'], runnerGroupId: 1 };
    await createJitConfig(github.asInstallation(world.organization), ACME, jit);
    expect(github.budgetOf(installationId, 'actions_runner_registration')).toMatchObject({
      limit: 10_000,
      remaining: 9999,
    });
    expect(github.budgetOf(world.user.installationId)).toBeUndefined();
  });

  test('are read from failures too, and an exhausted one waits for its reset', async () => {
    const github = connect();
    const { installationId } = world.organization;
    await world.github.setRateLimit({
      caller: { installationId },
      resource: 'core',
      remaining: 0,
      resetInMs: 90_000,
    });
    const failure = await failureOf(listRunners(github.asInstallation(world.organization), ACME));
    expect(failure).toMatchObject({ kind: 'rate_limited', status: 403 });
    expect(failure?.retryAfterMs).toBeGreaterThan(60_000);
    expect(failure?.retryAfterMs).toBeLessThanOrEqual(91_000);
    expect(github.budgetOf(installationId)).toMatchObject({ remaining: 0 });
  });

  test('of an installation stay unknown while its token cannot be minted', async () => {
    const github = connect();
    await world.github.suspend(world.organization.installationId);
    const call = listRunners(github.asInstallation(world.organization), ACME);
    expect(await failureOf(call)).toMatchObject({ kind: 'forbidden' });
    expect(github.budgetOf(world.organization.installationId)).toBeUndefined();
  });
});

describe('the way to GitHub', () => {
  test('may be an Enterprise Server’s base URL, with or without a final slash (H4)', async () => {
    for (const apiUrl of [`${world.github.url}/api/v3`, `${world.github.url}/api/v3/`]) {
      const github = connect({ apiUrl });
      expect(await listRunners(github.asInstallation(world.organization), ACME)).toEqual([]);
    }
  });

  test('reports an answer that hangs as a timeout', async () => {
    const client = connect().asInstallation(world.organization);
    await listRunners(client, ACME);
    const hasty = connect({ requestTimeoutMs: 50 });
    await world.github.failNext({ path: '^/app$', hang: true });
    expect(await failureOf(getApp(hasty.asApp(world.appId)))).toMatchObject({
      kind: 'timeout',
      operation: 'GET /app',
    });
  });

  test('ends a call under way when the caller’s signal aborts', async () => {
    const over = new AbortController();
    await world.github.failNext({ path: '^/app$', hang: true });
    const call = getApp(connect().asApp(world.appId, { signal: over.signal }));
    over.abort();
    await expect(call).rejects.toHaveProperty('status', 500);
  });
});

const NOW = Date.parse('2026-01-01T00:00:00.900Z');
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

test.each(['pkcs1', 'pkcs8'] as const)(
  'a token signed with a %s key is RS256, dated back, and lives less than ten minutes',
  (type) => {
    const key = parsePrivateKey(12, privateKey.export({ type, format: 'pem' }));
    const { jwt, expiresAt } = signAppJwt(12, key, NOW);
    const [header = '', claims = '', signature = ''] = jwt.split('.');
    expect(read(header)).toEqual({ alg: 'RS256', typ: 'JWT' });
    expect(read(claims)).toEqual({ iss: '12', iat: 1767225570, exp: 1767226110 });
    expect(expiresAt).toBe('2026-01-01T00:08:30.000Z');
    expect(
      verify(
        'RSA-SHA256',
        Buffer.from(`${header}.${claims}`),
        publicKey,
        Buffer.from(signature, 'base64url'),
      ),
    ).toBe(true);
  },
);

test('reads a key whose line breaks are written as \\n, and refuses another text without showing it (H1)', () => {
  const pem = privateKey.export({ type: 'pkcs1', format: 'pem' });
  expect(parsePrivateKey(12, pem.replaceAll('\n', String.raw`\n`)).equals(privateKey)).toBe(true);
  const wrong = () => parsePrivateKey(12, pem.slice(0, -100));
  expect(wrong).toThrow(ConfigError);
  expect(wrong).toThrow(
    /The private key of GitHub App 12 cannot be read: give the PEM file that GitHub handed out, as it is$/,
  );
});

function read(part: string): unknown {
  return JSON.parse(Buffer.from(part, 'base64url').toString());
}
