import type { Caller, Wait } from '@paddock/domain/entities/waits';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { RequestError } from '@octokit/request-error';
import { classifyGitHubError, tellFailure } from './errors.ts';
import { getApp } from './installations.ts';
import { createJitConfig, listRunners } from './runners.ts';
import { ACME, failureOf, jit, useSmallWorld } from './scenes/small-world.scene.ts';
import { waitsNamedBy } from './waits.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const request = {
  method: 'POST' as const,
  url: 'https://ghe.example/api/v3/orgs/acme/actions/runners/generate-jitconfig?x=1',
  headers: { authorization: 'token ghs_secret' },
};

const failed = (
  status: number,
  headers: Record<string, string> = {},
  message = 'as GitHub words it',
  data: unknown = {},
) =>
  new RequestError(message, status, {
    request,
    response: { status, url: request.url, headers, data },
  });

type Headers = Readonly<Record<string, string>>;

const after = (seconds: number) => ({ 'retry-after': String(seconds) });

const reset = (seconds: number) => String(NOW / 1000 + seconds);

describe('classifyGitHubError', () => {
  test.each(
    Object.entries({
      invalid: [400, 422],
      unauthorized: [401],
      forbidden: [403],
      not_found: [404, 410],
      conflict: [409],
      unknown: [418],
      rate_limited: [429],
      unavailable: [500, 502, 503],
    }),
  )('is %s for the status %j', (kind, statuses) => {
    const operation = 'POST /api/v3/orgs/acme/actions/runners/generate-jitconfig';
    for (const status of statuses)
      expect(classifyGitHubError(failed(status))).toMatchObject({ kind, status, operation });
  });

  const SOON = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset(90) };
  const OVER = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset(-5) };
  const PLENTY = { 'x-ratelimit-remaining': '4000', 'x-ratelimit-reset': reset(90) };

  test.each<[string, number, Headers, string, object[]]>([
    ['a used-up budget', 403, SOON, 'rate_limited', [{ ms: 90_000 }]],
    [
      'a used-up budget of its own',
      403,
      { ...SOON, 'x-ratelimit-resource': 'core' },
      'rate_limited',
      [{ ms: 90_000, resource: 'core' }],
    ],
    [
      'less than nothing',
      403,
      { ...SOON, 'x-ratelimit-remaining': '-1' },
      'rate_limited',
      [{ ms: 90_000 }],
    ],
    ['the last of a budget', 404, SOON, 'not_found', [{ ms: 90_000 }]],
    ['a reset in the past', 429, OVER, 'rate_limited', [{ ms: 1_000 }]],
    ['no header', 429, {}, 'rate_limited', [{ ms: 60_000 }]],
    ['Retry-After', 429, after(30), 'rate_limited', [{ ms: 30_000 }]],
    ['that and a budget', 403, { ...PLENTY, ...after(30) }, 'rate_limited', [{ ms: 30_000 }]],
    [
      'that and a used-up budget',
      429,
      { ...SOON, ...after(5) },
      'rate_limited',
      [{ ms: 5_000 }, { ms: 90_000 }],
    ],
    ['Retry-After of nothing', 429, after(0), 'rate_limited', [{ ms: 1_000 }]],
    ['Retry-After of a server error', 503, after(7), 'unavailable', []],
    ['no header', 500, {}, 'unavailable', []],
    ['a budget', 403, PLENTY, 'forbidden', []],
  ])('with %s, status %i asks for the right wait (P4)', (_what, status, headers, kind, waits) => {
    expect(waitsNamedBy({ status, headers, data: {} }, NOW)).toEqual(waits);
    const longest = Math.max(...waits.map((wait) => ('ms' in wait ? Number(wait.ms) : 0)));
    const failure = classifyGitHubError(failed(status, headers, 'API rate limit exceeded'), NOW);
    expect(failure.kind).toBe(kind);
    expect(failure.retryAfterMs).toBe(waits.length === 0 ? undefined : longest);
  });

  test.each([
    '/rest/overview/resources-in-the-rest-api#secondary-rate-limits',
    '/en/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits',
    '/en/free-pro-team@latest/rest/overview/resources-in-the-rest-api#abuse-rate-limits',
  ])('a refusal that points to %s asks for a minute (P4)', (page) => {
    const data = { documentation_url: `https://docs.github.com${page}` };
    expect(waitsNamedBy({ status: 403, headers: PLENTY, data }, NOW)).toEqual([{ ms: 60_000 }]);
    expect(classifyGitHubError(failed(403, PLENTY, 'x', data), NOW)).toMatchObject({
      kind: 'rate_limited',
      retryAfterMs: 60_000,
    });
  });

  test.each([-600, 600])(
    'waits for a reset by GitHub’s clock, though ours is %i s off',
    (seconds) => {
      const headers = { date: new Date(NOW).toUTCString(), ...SOON };
      expect(classifyGitHubError(failed(403, headers), NOW + seconds * 1000)).toMatchObject({
        retryAfterMs: 90_000,
      });
    },
  );

  const taken = { errors: [{ resource: 'Runner', code: 'already_exists', field: 'name' }] };
  test.each([
    [taken, 'conflict'],
    [{ errors: ['runner_group_id is invalid'] }, 'invalid'],
    [null, 'invalid'],
  ])('a 422 because the name exists is a conflict, any other is invalid: %j (C6)', (data, kind) => {
    expect(classifyGitHubError(failed(422, {}, 'x', data))).toMatchObject({ kind, status: 422 });
  });

  test('the text of a page is not shown as GitHub’s message', () => {
    const page = '<!DOCTYPE html>\n<html><body>Unicorn!</body></html>';
    expect(classifyGitHubError(failed(502, {}, page, page))).toMatchObject({
      kind: 'unavailable',
      message: 'a page instead of an answer, with status 502',
    });
  });

  test('a refusal without a body has its status for words', () => {
    expect(classifyGitHubError(failed(403, {}, '', ''))).toMatchObject({
      kind: 'unavailable',
      message: 'nothing instead of an answer, with status 403',
    });
  });

  const operation = 'POST /x';
  test.each([
    [
      { kind: 'invalid', status: 422, operation, message: 'no' },
      'GitHub answered 422 to POST /x: no',
    ],
    [
      { kind: 'network', operation, message: 'it closed' },
      'GitHub did not answer POST /x: it closed',
    ],
    [
      { kind: 'unusable', operation, message: 'too long' },
      'GitHub’s answer to POST /x cannot be used: too long',
    ],
    [{ kind: 'unknown', operation: 'unknown', message: 'It lacks an id.' }, 'It lacks an id.'],
  ] as const)('the sentence of %j is: %s', (failure, sentence) => {
    expect(tellFailure(failure)).toBe(sentence);
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
    const config = Buffer.from('{"secret":"x"}'.repeat(50)).toString('base64');
    const said = `refused: ${token} ${long} ${jwt} ${config} end`;
    const { message } = classifyGitHubError(failed(422, {}, said));
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

let asked: string[];
let told: (Caller & Wait)[];
let left: (caller: Caller, resource: string) => number | Promise<never>;
beforeEach(() => void ([asked, told, left] = [[], [], () => 0]));
const small = useSmallWorld(undefined, () => ({
  waits: {
    left: async (caller, resource) => {
      asked.push(`${JSON.stringify(caller)} ${resource}`);
      const ms = await left(caller, resource);
      return ms === 0 ? undefined : { ms, message: 'slow down' };
    },
    note: (caller, wait) => Promise.resolve(void told.push({ ...caller, ...wait })),
  },
}));

/** The organisation's, as the store of waits is asked for it. */
const installation = () => {
  const { appId, id: entityId, installationId } = small.world.organization;
  return { appId, entityId, installationId };
};
const count = async () => Object.values(await small.calls()).reduce((sum, one) => sum + one, 0);
const list = () => listRunners(small.client, ACME);
const register = () => createJitConfig(small.client, ACME, jit());

describe('before a call', () => {
  test('the store of waits is asked for the App when minting, for the installation otherwise, and for the call’s budget', async () => {
    await register();
    await list();
    await getApp(small.app);
    const app = JSON.stringify({ appId: small.world.appId });
    const acme = JSON.stringify(installation());
    const registration = `${acme} actions_runner_registration`;
    expect(asked).toEqual([`${app} core`, registration, `${acme} core`, `${app} core`]);
  });

  const limited = { kind: 'rate_limited', neverSent: true, message: 'slow down' };

  test('a caller that must wait makes no call: it fails as limited, never sent, with the rest of the wait', async () => {
    await list();
    const before = await count();
    left = (caller) => ('entityId' in caller ? 7_500 : 0);
    const runners = '/orgs/acme/actions/runners';
    const failure = { ...limited, retryAfterMs: 7_500 };
    expect(await failureOf(list())).toEqual({ ...failure, operation: `GET ${runners}` });
    const operation = `POST ${runners}/generate-jitconfig`;
    expect(await failureOf(register())).toEqual({ ...failure, operation });
    expect(await count()).toBe(before);
  });

  test('no token is minted while the App must wait', async () => {
    left = (caller) => ('appId' in caller ? 1_000 : 0);
    const { installationId } = small.world.organization;
    const operation = `POST /app/installations/${installationId}/access_tokens`;
    expect(await failureOf(list())).toMatchObject({ ...limited, operation });
    expect(await count()).toBe(0);
    left = () => 0;
    expect(await list()).toEqual([]);
  });

  test('if the store of waits fails, no call is made, and GitHub is not blamed', async () => {
    const away = new Error('PostgreSQL is away');
    left = () => Promise.reject(away);
    await expect(failureOf(failureOf(getApp(small.app)))).rejects.toMatchObject({
      name: 'UnaskedError',
      cause: away,
    });
    expect(await count()).toBe(0);
  });
});

describe('a wait that an answer names is stored for its caller', () => {
  test.each([200, 403])('of a used-up hourly budget, with %i', async (status) => {
    await list();
    const headers = {
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(Math.floor(Date.now() / 1000) + 90),
      'x-ratelimit-resource': 'core',
    };
    const body = { total_count: 0, runners: [] };
    await small.simulator.failNext({ path: '/actions/runners$', status, headers, body });
    await failureOf(list());
    const wait = { message: expect.any(String), resource: 'core', ms: expect.any(Number) };
    expect(told).toEqual([{ ...installation(), ...wait }]);
    expect(told[0]?.ms).toBeGreaterThan(80_000);
    expect(told[0]?.ms).toBeLessThanOrEqual(91_000);
  });

  test('of an App where it speaks for itself, also where it mints a token', async () => {
    const headers = { 'retry-after': '30' };
    await small.simulator.failNext({ path: '', times: 2, status: 429, headers });
    await failureOf(list());
    await failureOf(getApp(small.app));
    expect(told).toMatchObject([{ appId: small.world.appId }, { appId: small.world.appId }]);
  });
});
