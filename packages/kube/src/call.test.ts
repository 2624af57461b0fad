import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ConfigError } from '@paddock/runtime/config-error';
import { createMetrics } from '@paddock/runtime/metrics';
import { useFolder } from '@paddock/testing/use-folder';
import { useHttpServer } from '@paddock/testing/use-http-server';
import { waitFor } from '@paddock/testing/wait-for';
import { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Readable, pipeline } from 'node:stream';
import { json } from 'node:stream/consumers';
import { callJson, callText, probeCluster } from './call.ts';
import { type Cluster, connectCluster } from './connect.ts';
import { classifyKubeError, kindOf, readStatus } from './errors.ts';
import { podEvents } from './events.ts';
import { deletePod, findPod } from './pods.ts';
import { watchRights } from './rights.ts';
import { kubeconfigWriter } from './scenes/simulated-cluster.scene.ts';
import { deleteSecret } from './secrets.ts';

const folder = useFolder();

const write = kubeconfigWriter(folder);

interface Review {
  readonly spec: { readonly resourceAttributes: { readonly namespace: string } };
}

describe('a call', () => {
  let answer: RequestListener;
  const server = useHttpServer((request, response) => answer(request, response));
  const url = () => `${server.url}/prefix/`;
  let cluster: Cluster;

  beforeEach(() => {
    cluster = connectCluster({ kubeconfigFile: write('config', url()), requestTimeoutMs: 120_000 });
  });
  afterEach(() => cluster.close());

  const call = async (by = cluster) =>
    callJson(by, { method: 'GET', path: '/api/v1/pods', query: { limit: 1, continue: undefined } });
  const failure = async (by = cluster) => call(by).then(() => undefined, classifyKubeError);
  /** Waits for no answer: only for tests in which none comes. */
  const hasty = () => ({ ...cluster, requestTimeoutMs: 200 });

  test('it goes to the kubeconfig’s address with its credentials', async () => {
    answer = (request, response) =>
      void response.end(JSON.stringify([request.url, request.headers.authorization]));
    expect(await call()).toEqual(['/prefix/api/v1/pods?limit=1', 'Bearer token-b']);
  });

  test('replaces characters that PostgreSQL cannot hold by U+FFFD, in JSON, plain text and refusals (P6)', async () => {
    answer = (_request, response) =>
      void response.end(String.raw`{"a\u0000":"\ud800 \ud83d\ude00"}`);
    expect(await call()).toEqual({ 'a\uFFFD': '\uFFFD 😀' });
    answer = (_request, response) => void response.end('a\0b');
    expect(await callText(cluster, { method: 'GET', path: '/log' })).toBe('a\uFFFDb');
    answer = (_request, response) =>
      void response.writeHead(404).end(String.raw`{"kind":"Status","message":"no \u0000"}`);
    expect((await failure())?.message).toContain('no \uFFFD');
  });

  test('what it lacks in one namespace is known, though the rights in another cannot be read; each is said once (C9, H1)', async () => {
    const asked: string[] = [];
    const review = async (request: IncomingMessage, response: ServerResponse) => {
      const { namespace } = ((await json(request)) as Review).spec.resourceAttributes;
      asked.push(namespace);
      if (namespace === 'broken') response.writeHead(418);
      response.end(JSON.stringify({ status: { allowed: namespace !== 'bare' } }));
    };
    answer = (request, response) => void review(request, response);
    const said: unknown[] = [];
    const say = (sentence: string, fields: unknown) => void said.push([sentence, fields]);
    const rights = watchRights({
      cluster,
      service: 'reconciler',
      findNamespaces: () => Promise.resolve(['broken', 'bare', 'well']),
      log: { error: say, warn: say, info: say, debug: say },
      metrics: createMetrics(),
    });
    await rights.look();
    await rights.look();
    expect([...new Set(asked)]).toEqual(['broken', 'bare', 'well']);
    expect(said).toEqual([
      [expect.stringContaining('could not read'), expect.objectContaining({ namespace: 'broken' })],
      [expect.stringContaining('lacks rights'), expect.objectContaining({ namespace: 'bare' })],
    ]);
    expect(rights.warning()).toMatch(/^rights are missing in the namespace bare: [^;]*$/);
  });

  test('an answer that does not come, or does not end, is a timeout', async () => {
    answer = () => undefined;
    expect(await failure(hasty())).toMatchObject({ kind: 'timeout' });
    answer = (_request, response) => void response.write('{');
    expect(await failure(hasty())).toMatchObject({ kind: 'timeout' });
  });

  test('stops reading an answer that is too long, as from a node that ignores the limit', async () => {
    const chunk = Buffer.alloc(16 * 1024 * 1024, ' ');
    let sentBytes = 0;
    answer = ({ socket }, response) => {
      socket.once('close', () => (sentBytes = socket.bytesWritten));
      const chunks = Array.from({ length: 64 }, () => chunk);
      pipeline(Readable.from(chunks, { objectMode: false }), response, () => undefined);
    };
    const read = callText(cluster, { method: 'GET', path: '/log' });
    expect(await read.then(() => undefined, classifyKubeError)).toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('GET /log: the answer is longer'),
    });
    await waitFor('the connection to be closed', () => sentBytes > 0);
    expect(sentBytes).toBeLessThan(13 * chunk.length);
  });

  test('a connection that breaks, or cannot be made, is a network failure', async () => {
    answer = (request) => void request.socket.destroy();
    expect(await failure()).toMatchObject({ kind: 'network' });
    const kubeconfigFile = write('nowhere', 'http://127.0.0.1:1/');
    const nowhere = connectCluster({ kubeconfigFile, requestTimeoutMs: 120_000 });
    expect(await failure(nowhere)).toMatchObject({ kind: 'network' });
    nowhere.close();
  });

  test("a caller's signal ends it with the signal's own reason", async () => {
    const over = new AbortController();
    answer = () => over.abort(new Error('enough'));
    const ended = callText(cluster, { method: 'GET', path: '/x', signal: over.signal });
    await expect(ended).rejects.toThrow('enough');
  });

  test('a refusal has the attempted call, the cluster’s message and the wait that it asks for', async () => {
    answer = (_request, response) => {
      response.writeHead(429, { 'retry-after': '3' });
      response.end(
        JSON.stringify({ kind: 'Status', reason: 'TooManyRequests', message: 'slow down' }),
      );
    };
    expect(await failure()).toEqual({
      kind: 'too_many_requests',
      status: 429,
      reason: 'TooManyRequests',
      retryAfterMs: 3000,
      message: 'GET /api/v1/pods: 429 TooManyRequests slow down',
    });
    const details = { retryAfterSeconds: 1e300 };
    answer = (_request, response) =>
      void response.writeHead(429).end(JSON.stringify({ kind: 'Status', details }));
    expect(await failure()).toMatchObject({ retryAfterMs: 300_000 });
  });

  test.each([
    [
      'NotFound',
      { code: 404, details: { kind: 'namespaces', name: 'runners' } },
      'namespaces "runners" not found',
      ': 404 NotFound namespaces "runners"',
    ],
    [
      'Forbidden',
      { code: 403, details: { kind: 'secrets', name: 'pdk-1' } },
      'secrets "pdk-1" is forbidden: exceeded quota: few, requested: secrets=1, used: secrets=9, limited: secrets=9',
      ': 403 Forbidden secrets "pdk-1": exceeded quota: few',
    ],
    [
      'Forbidden',
      { code: 403, details: { kind: 'secrets' } },
      'secrets is forbidden: User "paddock" cannot create resource "secrets" in API group "" in the namespace "runners"',
      ': 403 Forbidden cannot create resource "secrets"',
    ],
    [
      undefined,
      { code: 400 },
      'admission webhook "policy.test" denied the request: hidden',
      ': 400 admission webhook "policy.test" denied the request',
    ],
    [
      'Forbidden',
      { code: 403, details: { kind: 'secrets', name: 'pdk-1' } },
      'secrets "pdk-1" is forbidden: unable to create new content in namespace runners because it is being terminated',
      ': 403 Forbidden secrets "pdk-1": namespace runners because it is being terminated',
    ],
    [
      'InternalError',
      { code: 500 },
      'Internal error occurred: failed calling webhook "policy.test": failed to call webhook: hidden',
      ': 500 InternalError failed calling webhook "policy.test"',
    ],
    [
      'Invalid',
      { code: 422, details: { kind: 'secrets', name: 'pdk-1' } },
      "secrets \"pdk-1\" is forbidden: ValidatingAdmissionPolicy 'few' with binding 'all' denied request: hidden",
      ': 422 Invalid secrets "pdk-1": ValidatingAdmissionPolicy \'few\'',
    ],
    [
      'Invalid',
      { code: 422, details: { kind: 'Secret', name: 'pdk-1' } },
      'data: Invalid value: hidden',
      ': 422 Invalid Secret "pdk-1"',
    ],
  ])(
    'a refused secret (%s %j) is reported with the rule, and without text that may quote it (H1)',
    async (reason, given, message, told) => {
      const status = JSON.stringify({ kind: 'Status', reason, message, ...given });
      answer = (_request, response) => void response.writeHead(given.code).end(status);
      const post = { method: 'POST', path: '/api/v1/secrets', body: {}, secretBody: true } as const;
      const refusal = await callJson(cluster, post).catch(classifyKubeError);
      expect(refusal).toMatchObject({ message: `POST /api/v1/secrets${told}` });
    },
  );

  test('reports the server’s warnings beside its answer, and no warnings of a proxy (H1)', async () => {
    const unknown = '299 - "unknown field \\"spec.image\\""';
    const warnings = [unknown, '110 proxy "stale"', '299 kube "a \\\\ b"'];
    answer = (_request, response) =>
      void response.setHeaders(new Map([['warning', warnings]])).end('{}');
    const told: string[] = [];
    const onWarnings = (said: readonly string[]) => void told.push(...said);
    await callJson(cluster, { method: 'POST', path: '/', body: {}, onWarnings });
    expect(told).toEqual(['unknown field "spec.image"', 'a \\ b']);
  });

  test.each([
    ['is not ready is away', 500, 201, /500 Internal Server Error$/],
    ['has just started, and refuses everybody, is away', 403, 403, /403 Forbidden$/],
    ['lets us ask for our own rights alone is there', 403, 201, /^undefined$/],
  ])('a server that %s', async (_how, readiness, review, said) => {
    answer = (asked, response) =>
      void response.writeHead(asked.url?.endsWith('/readyz') ? readiness : review).end();
    expect(String(await probeCluster(cluster, AbortSignal.timeout(5_000)))).toMatch(said);
  });

  test.each([
    [200, '{"message":"please log in"}'],
    [200, '<html>please log in'],
    [404, '{"message":"no such host"}'],
    [404, 'default backend - 404'],
  ])('the %i of a proxy is no answer of the cluster: %s', async (status, body) => {
    answer = (_request, response) => void response.writeHead(status).end(body);
    const pod = { namespace: 'runners', name: 'pdk-1' };
    for (const ask of [podEvents, deletePod, findPod, deleteSecret])
      expect(await ask(cluster, pod).catch(classifyKubeError)).toMatchObject({
        kind: 'unavailable',
      });
    const away = await probeCluster(cluster, AbortSignal.timeout(5_000));
    expect(away).toMatch(status === 404 ? /404 Not Found/ : /is .* a Kubernetes API server/);
  });
});

test.each([
  [404, 'NotFound', 'not_found'],
  [409, 'AlreadyExists', 'exists'],
  [409, 'Conflict', 'conflict'],
  [410, 'Expired', 'gone'],
  [422, 'Invalid', 'invalid'],
  [415, undefined, 'invalid'],
  [500, 'InternalError', 'unavailable'],
  [502, undefined, 'unavailable'],
  [504, 'Timeout', 'timeout'],
  [302, undefined, 'unknown'],
])('an answer of status %s with reason %s is %s', (status, reason, kind) => {
  expect(kindOf(status, reason)).toBe(kind);
});

test('only a Status object gives a reason', () => {
  const status = { kind: 'Status', code: 429, reason: 'TooManyRequests', message: 'm' };
  expect(readStatus({ ...status, details: { retryAfterSeconds: 2 } })).toEqual({
    code: 429,
    reason: 'TooManyRequests',
    message: 'm',
    retryAfterSeconds: 2,
  });
  const others = [null, 'text', [], { ...status, kind: 'Pod' }, { kind: 'Status', code: 'x' }];
  for (const other of others) expect(readStatus(other)).toEqual({});
});

/** Fields of a kubeconfig that would be dropped, or read in another way than by kubectl. */
const FIELDS: [{ cluster?: object; user?: object }, string][] = [
  [{ user: { token: 'a', 'as-groups': ['g'] } }, 'the user has as-groups, which Paddock does not'],
  [{ user: { token: 'a', 'as-uid': '1' } }, 'the user has as-uid, which'],
  [{ user: { token: 'a', 'as-user-extra': { a: ['b'] } } }, 'the user has as-user-extra, which'],
  [
    { user: { tokenfile: 'hidden' } },
    'the user has tokenfile, which Paddock does not read; did you mean tokenFile?',
  ],
  [{ user: { username: 'hidden' } }, 'the user has username, and no password'],
  [
    { user: { 'client-certificate-data': 'hidden' } },
    'the user has client-certificate-data, and no client-key',
  ],
  [{ user: { token: '' } }, 'the user is not there or has no credentials: name one with token'],
  [{ user: { 'auth-provider': { name: 'hidden' } } }, 'auth-provider is none of azure, exec'],
  [{ user: { exec: { command: 'a', provideClusterInfo: true } } }, 'exec has provideClusterInfo'],
  [
    { user: { exec: { command: 'a' }, tokenFile: 'hidden' } },
    'the user has both exec and tokenFile: keep one',
  ],
  [
    { cluster: { 'tls-servername': 'hidden' } },
    'the cluster has tls-servername, which Paddock does not read; did you mean tls-server-name?',
  ],
  [
    { cluster: { 'certificate-authority-data': 'hidden' } },
    'both certificate-authority-data and insecure-skip-tls-verify',
  ],
];

test.each<[string, string | undefined, string]>([
  ['no file, outside a cluster', undefined, 'no kubeconfig file is named (PADDOCK_KUBECONFIG)'],
  ['a file that is missing', join(folder, 'absent'), 'absent cannot be read: ENOENT'],
  [
    'a file without a context',
    write('empty', '', { text: '{}' }),
    'empty has no cluster with a URL',
  ],
  ['an address that is none', write('odd', 'https://:x'), 'odd has no cluster with a URL'],
  ...FIELDS.map(([given, sentence]): [string, string, string] => [
    JSON.stringify(given),
    write(`of-${sentence.replaceAll(/\W/g, '-')}`, 'https://127.0.0.1', given),
    sentence,
  ]),
  // It is not quoted: a token may be in it.
  [
    'a file of another form',
    write('broken', '', { text: 'users: [{ token: hidden' }),
    'does not have the form of a kubeconfig',
  ],
])('%s is reported as a problem of the configuration (H1)', (_what, kubeconfigFile, sentence) => {
  const connect = () => connectCluster({ kubeconfigFile, requestTimeoutMs: 1 });
  expect(connect).toThrow(ConfigError);
  expect(connect).toThrow(sentence);
  expect(connect).not.toThrow('hidden');
});
