import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startSmallWorld, type SmallWorld } from '@paddock/simulators/scenes/small-world.scene';
import type { GitHub } from './connect.ts';
import { classifyGitHubError } from './errors.ts';
import { getApp } from './installations.ts';
import { createJitConfig, listRunners } from './runners.ts';
import type { Caller, Wait } from './waits.ts';
import { connectSmallWorld } from './scenes/connect-small-world.scene.ts';

const ACME = { kind: 'organization', owner: 'acme' } as const;
const JIT = { name: 'one', labels: ['linux'], runnerGroupId: 1 };

let world: SmallWorld;
let github: GitHub;
let asked: string[];
let told: (Caller & Wait)[];
let left: (caller: Caller, resource: string) => number | Promise<never>;
beforeEach(async () => {
  world = await startSmallWorld();
  [asked, told, left] = [[], [], () => 0];
  github = connectSmallWorld(world, {
    waits: {
      left: async (caller, resource) => {
        asked.push(`${JSON.stringify(caller)} ${resource}`);
        const ms = await left(caller, resource);
        return ms === 0 ? undefined : { ms, message: 'slow down' };
      },
      note: (caller, wait) => Promise.resolve(void told.push({ ...caller, ...wait })),
    },
  });
});
afterEach(() => world.github.stop());

/** The organisation's, as the store of waits is asked for it. */
const installation = () => {
  const { appId, id: entityId, installationId } = world.organization;
  return { appId, entityId, installationId };
};
const calls = async () =>
  Object.values((await world.github.report()).calls).reduce((sum, count) => sum + count, 0);
const failureOf = (call: Promise<unknown>) => call.then(() => undefined, classifyGitHubError);
const list = () => listRunners(github.asInstallation(world.organization), ACME);
const register = () => createJitConfig(github.asInstallation(world.organization), ACME, JIT);

describe('before a call', () => {
  test('the store of waits is asked for the App when minting, for the installation otherwise, and for the call’s budget', async () => {
    await register();
    await list();
    await getApp(github.asApp(world.appId));
    const [app, acme] = [{ appId: world.appId }, installation()].map((caller) =>
      JSON.stringify(caller),
    );
    expect(asked).toEqual([
      `${app} core`,
      `${acme} actions_runner_registration`,
      `${acme} core`,
      `${app} core`,
    ]);
  });

  test('a caller that must wait makes no call: it fails as limited, never sent, with the rest of the wait', async () => {
    await list();
    const before = await calls();
    left = (caller) => ('entityId' in caller ? 7_500 : 0);
    const failure = {
      kind: 'rate_limited',
      neverSent: true,
      retryAfterMs: 7_500,
      message: 'slow down',
    };
    expect(await failureOf(list())).toEqual({
      ...failure,
      operation: 'GET /orgs/acme/actions/runners',
    });
    expect(await failureOf(register())).toEqual({
      ...failure,
      operation: 'POST /orgs/acme/actions/runners/generate-jitconfig',
    });
    expect(await calls()).toBe(before);
  });

  test('no token is minted while the App must wait', async () => {
    left = (caller) => ('appId' in caller ? 1_000 : 0);
    const operation = `POST /app/installations/${world.organization.installationId}/access_tokens`;
    expect(await failureOf(list())).toMatchObject({
      kind: 'rate_limited',
      neverSent: true,
      operation,
    });
    expect(await calls()).toBe(0);
    left = () => 0;
    expect(await list()).toEqual([]);
  });

  test('if the store of waits fails, no call is made, and GitHub is not blamed', async () => {
    const away = new Error('PostgreSQL is away');
    left = () => Promise.reject(away);
    await expect(failureOf(failureOf(getApp(github.asApp(world.appId))))).rejects.toMatchObject({
      name: 'UnaskedError',
      cause: away,
    });
    expect(await calls()).toBe(0);
  });
});

const inSeconds = (seconds: number) => String(Math.floor(Date.now() / 1000) + seconds);
const exhausted = (seconds: number) => ({
  'x-ratelimit-remaining': '0',
  'x-ratelimit-reset': inSeconds(seconds),
});
const link =
  'https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits';

describe('an answer names a wait', () => {
  test.each([
    ['429 with Retry-After', { status: 429, headers: { 'retry-after': '30' } }, [{ ms: 30_000 }]],
    ['403 with Retry-After', { status: 403, headers: { 'retry-after': '30' } }, [{ ms: 30_000 }]],
    ['503 with Retry-After', { status: 503, headers: { 'retry-after': '30' } }, [{ ms: 30_000 }]],
    [
      'a secondary limit without a header',
      { status: 403, body: { documentation_url: link } },
      [{ ms: 60_000 }],
    ],
    ['429 without a header', { status: 429 }, [{ ms: 60_000 }]],
    ['503 with Retry-After of nothing', { status: 503, headers: { 'retry-after': '0' } }, []],
    [
      '429 with Retry-After of nothing',
      { status: 429, headers: { 'retry-after': '0' } },
      [{ ms: 1_000 }],
    ],
    ['500', { status: 500 }, []],
    ['a refusal', { status: 403 }, []],
  ])('%s', async (_name, fault, waits) => {
    await list();
    await world.github.failNext({ path: '/actions/runners$', ...fault });
    await failureOf(list());
    const message = expect.any(String);
    expect(told).toEqual(waits.map((wait) => ({ ...installation(), message, ...wait })));
  });

  test.each([200, 403, 429])(
    'of a used-up hourly budget, with %i, for calls that count against it',
    async (status) => {
      await list();
      const headers = { ...exhausted(90), 'x-ratelimit-resource': 'core' };
      await world.github.failNext({
        path: '/actions/runners$',
        status,
        headers,
        body: { total_count: 0, runners: [] },
      });
      await failureOf(list());
      expect(told).toMatchObject([{ entityId: world.organization.id, resource: 'core' }]);
      expect(told[0]?.ms).toBeGreaterThan(80_000);
      expect(told[0]?.ms).toBeLessThanOrEqual(91_000);
    },
  );

  test('of both kinds, and the failure waits for the longer one', async () => {
    await list();
    await world.github.failNext({
      path: '/actions/runners$',
      status: 429,
      headers: { ...exhausted(90), 'retry-after': '5' },
    });
    expect((await failureOf(list()))?.retryAfterMs).toBeGreaterThan(80_000);
    expect(told).toMatchObject([{ ms: 5_000 }, { entityId: world.organization.id }]);
  });

  test('to an App where it speaks for itself, also where it mints a token', async () => {
    await world.github.failNext({
      path: '',
      times: 2,
      status: 429,
      headers: { 'retry-after': '30' },
    });
    await failureOf(list());
    await failureOf(getApp(github.asApp(world.appId)));
    expect(told).toMatchObject([{ appId: world.appId }, { appId: world.appId }]);
  });
});
