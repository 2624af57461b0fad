import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ConfigError } from '@paddock/runtime/config-error';
import { createAppKey } from '@paddock/simulators/github/app-key';
import { generateKeyPairSync, verify } from 'node:crypto';
import { parsePrivateKey, signAppJwt } from './credentials.ts';
import type { GitHub, InstallationClient } from './connect.ts';
import { getApp } from './installations.ts';
import { createJitConfig, listRunners } from './runners.ts';
import { ACME, TOOL, failureOf, jit, useSmallWorld } from './scenes/small-world.scene.ts';

const LIST = 'actions/list-self-hosted-runners-for-org';
const MINT = 'apps/create-installation-access-token';

let now: number;
beforeEach(() => void (now = Date.now()));
const small = useSmallWorld(
  () => ({ now: () => now }),
  () => ({ now: () => now }),
);
const list = (of: InstallationClient = small.client) => listRunners(of, ACME);
const listOfMona = (github: GitHub) => listRunners(github.asInstallation(small.world.user), TOOL);

describe('tokens (C7)', () => {
  test('an installation’s token is minted once, also for simultaneous calls, and kept', async () => {
    await Promise.all(Array.from({ length: 5 }, () => list()));
    await list();
    expect(await small.calls()).toEqual({ [MINT]: 1, [LIST]: 6 });
  });

  test('a token is minted anew shortly before its hour is over', async () => {
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now);
    try {
      await list();
      now += 58 * 60_000;
      await list();
      expect(await small.calls()).toMatchObject({ [MINT]: 1 });
      now += 90_000;
      await list();
      expect(await small.calls()).toMatchObject({ [MINT]: 2 });
    } finally {
      clock.mockRestore();
    }
  });

  test('each installation has another token', async () => {
    await list();
    await listOfMona(small.github);
    expect(await small.calls()).toMatchObject({ [MINT]: 2 });
  });

  test('a token refused before its time is dropped: that call fails, and the next one mints anew', async () => {
    await list();
    await small.simulator.failNext({ path: '/actions/runners$', status: 401 });
    expect(await failureOf(list())).toMatchObject({ kind: 'outdated', status: 401 });
    expect([await list(), await list()]).toEqual([[], []]);
    expect(await small.calls()).toMatchObject({ [MINT]: 2 });
  });

  test('a refused call is not repeated, even with a young token: it serves the next calls, until all of GitHub must know it', async () => {
    await small.simulator.failNext({ path: '/actions/runners$', status: 401, times: 3 });
    expect(await failureOf(list())).toMatchObject({ kind: 'outdated' });
    expect(await small.calls()).toMatchObject({ [LIST]: 1 });
    expect(await failureOf(list())).toMatchObject({ kind: 'outdated' });
    now += 5_000;
    expect(await failureOf(list())).toMatchObject({ kind: 'unauthorized' });
    expect(await small.calls()).toMatchObject({ [MINT]: 1, [LIST]: 3 });
    expect(await list()).toEqual([]);
    expect(await small.calls()).toMatchObject({ [MINT]: 2 });
  });

  test('calls for an installation that is gone or suspended fail as its token does (C9)', async () => {
    const { installationId } = small.world.organization;
    const operation = `POST /app/installations/${installationId}/access_tokens`;
    await small.simulator.suspend(installationId);
    expect(await failureOf(list())).toMatchObject({ kind: 'forbidden', status: 403, operation });
    await small.simulator.uninstall(installationId);
    expect(await failureOf(list())).toMatchObject({ kind: 'not_found', status: 404, operation });
  });
});

const anHourAhead = () => Date.now() + 3_600_000;

test('calls for an unknown installation fail as for one that is gone, without a call', async () => {
  const nobody = { ...small.world.organization, installationId: 0 };
  expect(await failureOf(list(small.github.asInstallation(nobody)))).toMatchObject({
    kind: 'not_found',
    status: 404,
    operation: 'POST /app/installations/0/access_tokens',
  });
  expect(await small.calls()).toEqual({});
});

const start = () => small.connect({ apps: [{ appId: 7, privateKey: 'no key at all' }] });

describe('an App', () => {
  test('speaks for itself with a JSON web token', async () => {
    expect(await getApp(small.app)).toMatchObject({ events: ['workflow_job'] });
  });

  test('stops the start when its key cannot be read, and the key is not shown', () => {
    expect(start).toThrow('private key of GitHub App 7');
    expect(start).not.toThrow('no key at all');
  });

  test('is refused by name and without a call when it is not configured, as one with another key is (C9)', async () => {
    const refused = { kind: 'unauthorized', message: expect.stringContaining('GitHub App 99') };
    expect(await failureOf(getApp(small.github.asApp(99)))).toMatchObject(refused);
    const ofAnother = { appId: 99, installationId: 5, entityId: 7 };
    expect(await failureOf(list(small.github.asInstallation(ofAnother)))).toMatchObject({
      ...refused,
      operation: 'POST /app/installations/5/access_tokens',
    });
    expect(await small.calls()).toEqual({});
  });

  test('learns GitHub’s time from the first refusal when the clock is an hour off', async () => {
    const client = small.connect({ now: anHourAhead }).asApp(small.world.appId);
    expect(await failureOf(getApp(client))).toMatchObject({ kind: 'outdated' });
    expect(await getApp(client)).toMatchObject({ events: ['workflow_job'] });
  });

  test('is not blamed for calls that were under way when it learnt the time, and is blamed for another key', async () => {
    const github = small.connect({ now: anHourAhead });
    const client = github.asApp(small.world.appId);
    const ofAcme = github.asInstallation(small.world.organization);
    const atOnce = [getApp(client), getApp(client), list(ofAcme), listOfMona(github)];
    for (const failure of await Promise.all(atOnce.map(failureOf)))
      expect(failure).toMatchObject({ kind: 'outdated' });
    expect(await list(ofAcme)).toEqual([]);

    const stranger = small
      .connect({
        now: anHourAhead,
        apps: [{ appId: small.world.appId, privateKey: createAppKey().privateKeyPem }],
      })
      .asApp(small.world.appId);
    expect(await failureOf(getApp(stranger))).toMatchObject({ kind: 'outdated' });
    expect(await failureOf(getApp(stranger))).toMatchObject({ kind: 'unauthorized' });
  });
});

const budget = (resource?: Parameters<GitHub['budgetOf']>[1]) =>
  small.github.budgetOf(small.world.organization.installationId, resource);

describe('budgets', () => {
  test('are read from every answer, per installation and resource', async () => {
    expect(budget()).toBeUndefined();
    await list();
    expect(budget()).toMatchObject({ limit: 15_000, remaining: 15_000 - 1 });
    await createJitConfig(small.client, ACME, jit());
    const registrations = budget('actions_runner_registration');
    expect(registrations).toMatchObject({ limit: 10_000, remaining: 9999 });
    expect(small.github.budgetOf(small.world.user.installationId)).toBeUndefined();
  });

  test('are read from failures too, and an exhausted one waits for its reset', async () => {
    const { installationId } = small.world.organization;
    const used = { resource: 'core', remaining: 0, resetInMs: 90_000 } as const;
    await small.simulator.setRateLimit({ caller: { installationId }, ...used });
    const failure = await failureOf(list());
    expect(failure).toMatchObject({ kind: 'rate_limited', status: 403 });
    expect(failure?.retryAfterMs).toBeGreaterThan(60_000);
    expect(failure?.retryAfterMs).toBeLessThanOrEqual(91_000);
    expect(budget()).toMatchObject({ remaining: 0 });
  });

  test('of an installation stay unknown while its token cannot be minted', async () => {
    await small.simulator.suspend(small.world.organization.installationId);
    expect(await failureOf(list())).toMatchObject({ kind: 'forbidden' });
    expect(budget()).toBeUndefined();
  });
});

describe('the way to GitHub', () => {
  test('may be an Enterprise Server’s base URL, with or without a final slash (H4)', async () => {
    for (const path of ['/api/v3', '/api/v3/']) {
      const github = small.connect({ apiUrl: small.simulator.url + path });
      expect(await list(github.asInstallation(small.world.organization))).toEqual([]);
    }
  });

  test('reports an answer that hangs as a timeout', async () => {
    const hasty = small.connect({ requestTimeoutMs: 50 }).asApp(small.world.appId);
    await small.simulator.failNext({ path: '^/app$', hang: true });
    const timeout = { kind: 'timeout', operation: 'GET /app' };
    expect(await failureOf(getApp(hasty))).toMatchObject(timeout);
  });

  test('ends a call under way when the caller’s signal aborts', async () => {
    const over = new AbortController();
    await small.simulator.failNext({ path: '^/app$', hang: true });
    const call = getApp(small.github.asApp(small.world.appId, { signal: over.signal }));
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
    const signed = Buffer.from(signature, 'base64url');
    expect(verify('RSA-SHA256', Buffer.from(`${header}.${claims}`), publicKey, signed)).toBe(true);
  },
);

const pem = privateKey.export({ type: 'pkcs1', format: 'pem' });
const encrypted = { cipher: 'aes-256-cbc', passphrase: 'x' };

test.each([
  ['\\n', pem.replaceAll('\n', String.raw`\n`)],
  ['\\r\\n', pem.replaceAll('\n', String.raw`\r\n`)],
  ['CRLF', pem.replaceAll('\n', '\r\n')],
])('reads a key with %s between its lines, also in base64 (H1)', (_between, text) => {
  for (const given of [text, Buffer.from(text).toString('base64')])
    expect(parsePrivateKey(12, given).equals(privateKey)).toBe(true);
});

test.each([
  ['cannot be read', pem.slice(0, -100)],
  ['is encrypted with', privateKey.export({ type: 'pkcs8', format: 'pem', ...encrypted })],
  ['is encrypted with', privateKey.export({ type: 'pkcs1', format: 'pem', ...encrypted })],
  ['is a public key', publicKey.export({ type: 'spki', format: 'pem' })],
  [
    'is no RSA key',
    generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
      type: 'sec1',
      format: 'pem',
    }),
  ],
])('says that a key %s, and does not show it (H1)', (what, text) => {
  const wrong = () => parsePrivateKey(12, text);
  expect(wrong).toThrow(ConfigError);
  expect(wrong).toThrow(
    new RegExp(
      `The private key of GitHub App 12 ${what}[^:]*: give the PEM file that GitHub handed out, as it is$`,
    ),
  );
});

function read(part: string): unknown {
  return JSON.parse(Buffer.from(part, 'base64url').toString());
}
