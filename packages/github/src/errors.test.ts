import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { RequestError } from '@octokit/request-error';
import { type SmallWorld, startSmallWorld } from '@paddock/simulators/scenes/small-world.scene';
import type { GitHub } from './connect.ts';
import { classifyGitHubError } from './errors.ts';
import { getApp } from './installations.ts';
import { createJitConfig, listRunners } from './runners.ts';
import { connectSmallWorld } from './scenes/connect-small-world.scene.ts';
import { type Caller, type Wait, waitsNamedBy } from './waits.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const request = {
  method: 'POST' as const,
  url: 'https://ghe.example/api/v3/orgs/acme/actions/runners/generate-jitconfig?x=1',
  headers: { authorization: 'token ghs_secret' },
};

function failed(
  status: number,
  headers: Record<string, string> = {},
  message = 'as GitHub words it',
  data: unknown = {},
) {
  return new RequestError(message, status, {
    request,
    response: { status, url: request.url, headers, data },
  });
}

describe('classifyGitHubError', () => {
  test.each([
    [400, 'invalid'],
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [409, 'conflict'],
    [410, 'not_found'],
    [418, 'unknown'],
    [422, 'invalid'],
    [429, 'rate_limited'],
    [500, 'unavailable'],
    [502, 'unavailable'],
    [503, 'unavailable'],
  ])('status %i is %s', (status, kind) => {
    expect(classifyGitHubError(failed(status))).toMatchObject({
      kind,
      status,
      operation: 'POST /api/v3/orgs/acme/actions/runners/generate-jitconfig',
    });
  });

  const SOON = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOW / 1000 + 90) };
  const OVER = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOW / 1000 - 5) };
  const PLENTY = {
    'x-ratelimit-remaining': '4000',
    'x-ratelimit-reset': SOON['x-ratelimit-reset'],
  };
  const DOCS = 'https://docs.github.com';

  test.each<[string, number, Record<string, string>, unknown, string, object[]]>([
    ['a used-up budget', 403, SOON, {}, 'rate_limited', [{ ms: 90_000 }]],
    [
      'a used-up budget of its own',
      403,
      { ...SOON, 'x-ratelimit-resource': 'core' },
      {},
      'rate_limited',
      [{ ms: 90_000, resource: 'core' }],
    ],
    ['the last of a budget', 404, SOON, {}, 'not_found', [{ ms: 90_000 }]],
    ['a reset in the past', 429, OVER, {}, 'rate_limited', [{ ms: 1_000 }]],
    ['no header', 429, {}, {}, 'rate_limited', [{ ms: 60_000 }]],
    ['Retry-After', 429, { 'retry-after': '30' }, {}, 'rate_limited', [{ ms: 30_000 }]],
    [
      'Retry-After beside a budget',
      403,
      { ...PLENTY, 'retry-after': '30' },
      {},
      'rate_limited',
      [{ ms: 30_000 }],
    ],
    [
      'Retry-After and a used-up budget',
      429,
      { ...SOON, 'retry-after': '5' },
      {},
      'rate_limited',
      [{ ms: 5_000 }, { ms: 90_000 }],
    ],
    ['Retry-After of nothing', 429, { 'retry-after': '0' }, {}, 'rate_limited', [{ ms: 1_000 }]],
    ['Retry-After', 503, { 'retry-after': '7' }, {}, 'unavailable', [{ ms: 7_000 }]],
    ['Retry-After of nothing', 503, { 'retry-after': '0' }, {}, 'unavailable', []],
    ['no header', 500, {}, {}, 'unavailable', []],
    ['a budget', 403, PLENTY, {}, 'forbidden', []],
    ...[
      '/rest/overview/resources-in-the-rest-api#secondary-rate-limits',
      '/en/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits',
      '/en/free-pro-team@latest/rest/overview/resources-in-the-rest-api#abuse-rate-limits',
    ].map((page): [string, number, Record<string, string>, unknown, string, object[]] => [
      page,
      403,
      PLENTY,
      { documentation_url: `${DOCS}${page}` },
      'rate_limited',
      [{ ms: 60_000 }],
    ]),
  ])(
    'with %s, status %i asks for the right wait (P4)',
    (_what, status, headers, data, kind, waits) => {
      expect(waitsNamedBy({ status, headers, data }, NOW)).toEqual(waits);
      const longest = Math.max(...waits.map((wait) => ('ms' in wait ? Number(wait.ms) : 0)));
      const failure = classifyGitHubError(
        failed(status, headers, 'API rate limit exceeded', data),
        NOW,
      );
      expect(failure.kind).toBe(kind);
      expect(failure.retryAfterMs).toBe(waits.length === 0 ? undefined : longest);
    },
  );

  test.each([-600, 600])(
    'waits for a reset by GitHub’s clock, though ours is %i s off',
    (seconds) => {
      const headers = { date: new Date(NOW).toUTCString(), ...SOON };
      expect(classifyGitHubError(failed(403, headers), NOW + seconds * 1000)).toMatchObject({
        retryAfterMs: 90_000,
      });
    },
  );

  test('a 422 because the name exists is a conflict, any other is invalid (C6)', () => {
    const taken = {
      message: 'Validation Failed',
      errors: [{ resource: 'Runner', code: 'already_exists', field: 'name' }],
    };
    expect(classifyGitHubError(failed(422, {}, 'x', taken))).toMatchObject({
      kind: 'conflict',
      status: 422,
    });
    expect(
      classifyGitHubError(failed(422, {}, 'x', { errors: ['runner_group_id is invalid'] })),
    ).toMatchObject({ kind: 'invalid' });
    expect(classifyGitHubError(failed(422, {}, 'x', null))).toMatchObject({ kind: 'invalid' });
  });

  test('the text of a page is not shown as GitHub’s message', () => {
    const page = '<!DOCTYPE html>\n<html><body>Unicorn!</body></html>';
    expect(classifyGitHubError(failed(502, {}, page, page))).toMatchObject({
      kind: 'unavailable',
      message: 'a page instead of an answer, with status 502',
    });
  });

  test.each([
    ['ECONNREFUSED', true],
    ['ENOTFOUND', true],
    ['UND_ERR_CONNECT_TIMEOUT', true],
    ['ECONNRESET', undefined],
    ['UND_ERR_HEADERS_TIMEOUT', undefined],
  ])('a call that failed with %s: certainly never sent is %s', (code, neverSent) => {
    const cause = new TypeError('fetch failed', {
      cause: Object.assign(new Error(code), { code }),
    });
    const error = new RequestError('fetch failed', 500, { request, cause });
    expect(classifyGitHubError(error).neverSent).toBe(neverSent);
  });

  test('no answer is a network failure, or a timeout if its cause has that name', () => {
    const network = new RequestError('connect ECONNREFUSED', 500, { request });
    expect(classifyGitHubError(network)).toMatchObject({ kind: 'network' });
    expect(classifyGitHubError(network).status).toBeUndefined();
    const timeout = new RequestError('aborted', 500, { request });
    timeout.cause = new DOMException('The operation was aborted due to timeout', 'TimeoutError');
    expect(classifyGitHubError(timeout)).toMatchObject({ kind: 'timeout' });
  });

  test('an error that is not GitHub’s stays unknown', () => {
    expect(classifyGitHubError(new TypeError('x is not a function'))).toEqual({
      kind: 'unknown',
      message: 'x is not a function',
      operation: 'unknown',
    });
    expect(classifyGitHubError('a thrown text')).toMatchObject({
      kind: 'unknown',
      message: 'a thrown text',
    });
  });

  test('its message never shows a token, a JSON web token or a JIT config', () => {
    const token = 'ghs_16C7e42F292c6912E7710c838347Ae178B4a';
    const long = `ghs_1234_eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxIn0.${'a'.repeat(400)}`;
    const jwt = `eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxIn0.${'b'.repeat(100)}`;
    const jit = Buffer.from('{"secret":"x"}'.repeat(50)).toString('base64');
    const { message } = classifyGitHubError(
      failed(422, {}, `refused: ${token} ${long} ${jwt} ${jit} end`),
    );
    expect(message).toBe('refused: [redacted] [redacted] [redacted] [redacted] end');
  });

  test('a long message is cut, and a secret at the cut stays hidden', () => {
    const { message } = classifyGitHubError(
      failed(422, {}, `${'x '.repeat(240)}ghs_${'1'.repeat(300)}`),
    );
    expect(message.length).toBeLessThanOrEqual(501);
    expect(message).not.toContain('ghs_');
  });
});

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

describe('a wait that an answer names is stored for its caller', () => {
  test.each([200, 403])('of a used-up hourly budget, with %i', async (status) => {
    await list();
    const reset = String(Math.floor(Date.now() / 1000) + 90);
    const headers = {
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': reset,
      'x-ratelimit-resource': 'core',
    };
    const body = { total_count: 0, runners: [] };
    await world.github.failNext({ path: '/actions/runners$', status, headers, body });
    await failureOf(list());
    const message = expect.any(String);
    expect(told).toEqual([
      { ...installation(), message, resource: 'core', ms: expect.any(Number) },
    ]);
    expect(told[0]?.ms).toBeGreaterThan(80_000);
    expect(told[0]?.ms).toBeLessThanOrEqual(91_000);
  });

  test('of an App where it speaks for itself, also where it mints a token', async () => {
    const headers = { 'retry-after': '30' };
    await world.github.failNext({ path: '', times: 2, status: 429, headers });
    await failureOf(list());
    await failureOf(getApp(github.asApp(world.appId)));
    expect(told).toMatchObject([{ appId: world.appId }, { appId: world.appId }]);
  });
});
