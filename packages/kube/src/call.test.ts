import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ConfigError } from '@paddock/runtime/config-error';
import { waitFor } from '@paddock/testing/wait-for';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type RequestListener, type Server, createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, pipeline } from 'node:stream';
import { callJson, callText } from './call.ts';
import { type Cluster, type ConnectOptions, connectCluster } from './connect.ts';
import { KubeError, classifyKubeError, kindOf, readStatus } from './errors.ts';
import { podEvents } from './events.ts';
import { deletePod } from './pods.ts';

const named = (name: string) => ({ context: { cluster: 'c', user: name }, name });

describe('a call', () => {
  let server: Server;
  let cluster: Cluster;
  let dir: string;
  let answer: RequestListener;
  let connections: number;

  beforeEach(async () => {
    connections = 0;
    server = createServer((request, response) => answer(request, response));
    server.on('connection', () => connections++);
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    dir = mkdtempSync(join(tmpdir(), 'paddock-call-'));
    const kubeconfigFile = join(dir, 'kubeconfig');
    const config = {
      clusters: [{ name: 'c', cluster: { server: 'https://elsewhere.test' } }],
      users: ['a', 'b'].map((name) => ({ name, user: { token: `token-${name}` } })),
      contexts: [named('a'), named('b')],
      'current-context': 'a',
    };
    writeFileSync(kubeconfigFile, JSON.stringify(config));
    const url = `http://127.0.0.1:${port}/prefix/`;
    cluster = connectCluster({
      kubeconfigFile,
      context: 'b',
      server: url,
      requestTimeoutMs: 20_000,
    });
  });
  afterEach(async () => {
    cluster.close();
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
    rmSync(dir, { recursive: true });
  });

  const call = async (by = cluster) =>
    callJson(by, { method: 'GET', path: '/api/v1/pods', query: { limit: 1, continue: undefined } });
  const failure = async (by = cluster) => call(by).then(() => undefined, classifyKubeError);
  /** Waits for no answer: only for tests in which none comes. */
  const hasty = () => ({ ...cluster, requestTimeoutMs: 200 });

  test('it goes to the given address with the credentials of the chosen context', async () => {
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
      pipeline(
        Readable.from(
          Array.from({ length: 64 }, () => chunk),
          { objectMode: false },
        ),
        response,
        () => undefined,
      );
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
    await new Promise((closed) => server.close(closed));
    expect(await failure()).toMatchObject({ kind: 'network' });
  });

  test("a caller's signal ends it with the signal's own reason", async () => {
    const over = new AbortController();
    answer = () => over.abort(new Error('enough'));
    await expect(
      callText(cluster, { method: 'GET', path: '/x', signal: over.signal }),
    ).rejects.toThrow('enough');
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
  });

  test.each([
    [
      404,
      'NotFound',
      { kind: 'namespaces', name: 'runners' },
      'namespaces "runners" not found',
      ': 404 NotFound namespaces "runners"',
    ],
    [
      403,
      'Forbidden',
      { kind: 'secrets', name: 'pdk-1' },
      'secrets "pdk-1" is forbidden: exceeded quota: few, requested: secrets=1, used: secrets=9, limited: secrets=9',
      ': 403 Forbidden secrets "pdk-1": exceeded quota: few',
    ],
    [
      403,
      'Forbidden',
      { kind: 'secrets' },
      'secrets is forbidden: User "paddock" cannot create resource "secrets" in API group "" in the namespace "runners"',
      ': 403 Forbidden cannot create resource "secrets"',
    ],
    [
      400,
      undefined,
      undefined,
      'admission webhook "policy.test" denied the request: hidden',
      ': 400 admission webhook "policy.test" denied the request',
    ],
    [
      422,
      'Invalid',
      { kind: 'Secret', name: 'pdk-1' },
      'data: Invalid value: hidden',
      ': 422 Invalid Secret "pdk-1"',
    ],
  ])(
    'a refused secret (%s %s) is reported with the rule, and without text that may quote it (H1)',
    async (code, reason, details, message, told) => {
      const status = JSON.stringify({ kind: 'Status', code, reason, details, message });
      answer = (_request, response) => void response.writeHead(code).end(status);
      const refusal = await callJson(cluster, {
        method: 'POST',
        path: '/api/v1/secrets',
        body: {},
        secretBody: true,
      }).catch(classifyKubeError);
      expect(refusal).toMatchObject({ message: `POST /api/v1/secrets${told}` });
    },
  );

  test('reports the server’s warnings beside its answer, and no warnings of a proxy (H1)', async () => {
    const warnings = [
      '299 - "unknown field \\"spec.image\\""',
      '110 proxy "stale"',
      '299 kube "a \\\\ b"',
    ];
    answer = (_request, response) =>
      void response.setHeaders(new Map([['warning', warnings]])).end('{}');
    const told: string[] = [];
    await callJson(cluster, {
      method: 'POST',
      path: '/',
      body: {},
      onWarnings: (said) => void told.push(...said),
    });
    expect(told).toEqual(['unknown field "spec.image"', 'a \\ b']);
  });

  test('the JSON of a proxy is no answer of the cluster', async () => {
    answer = (_request, response) => void response.end('{"message":"please log in"}');
    const pod = { namespace: 'runners', name: 'pdk-1' };
    for (const ask of [podEvents, deletePod])
      expect(await ask(cluster, pod).catch(classifyKubeError)).toMatchObject({
        kind: 'unavailable',
      });
  });
});

describe('kindOf', () => {
  test.each([
    [404, 'NotFound', 'not_found'],
    [409, 'AlreadyExists', 'exists'],
    [409, 'Conflict', 'conflict'],
    [409, undefined, 'conflict'],
    [403, 'Forbidden', 'forbidden'],
    [410, 'Expired', 'gone'],
    [410, undefined, 'gone'],
    [422, 'Invalid', 'invalid'],
    [400, 'BadRequest', 'invalid'],
    [415, undefined, 'invalid'],
    [429, 'TooManyRequests', 'too_many_requests'],
    [401, 'Unauthorized', 'unauthorized'],
    [500, 'InternalError', 'unavailable'],
    [500, 'ServerTimeout', 'unavailable'],
    [503, undefined, 'unavailable'],
    [504, 'Timeout', 'timeout'],
    [504, undefined, 'timeout'],
    [502, 'SomethingNew', 'unavailable'],
    [302, undefined, 'unknown'],
  ])('status %s with reason %s is %s', (status, reason, kind) => {
    expect(kindOf(status, reason)).toBe(kind);
  });
});

describe('classifyKubeError', () => {
  test('a failure of a call comes back as it was', () => {
    const failure = { kind: 'gone' as const, status: 410, message: 'too old' };
    expect(classifyKubeError(new KubeError(failure))).toBe(failure);
  });
});

describe('readStatus', () => {
  test('only a Status object gives a reason', () => {
    const status = {
      kind: 'Status',
      code: 429,
      reason: 'TooManyRequests',
      message: 'm',
      details: { retryAfterSeconds: 2 },
    };
    expect(readStatus(status)).toEqual({
      code: 429,
      reason: 'TooManyRequests',
      message: 'm',
      retryAfterSeconds: 2,
    });
    for (const other of [
      undefined,
      null,
      'text',
      [],
      { kind: 'Pod', code: 1 },
      { kind: 'Status', code: 'x', details: 3 },
    ]) {
      expect(readStatus(other)).toEqual({});
    }
  });
});

const folder = mkdtempSync(join(tmpdir(), 'paddock-connect-'));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, content: string): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

const kubeconfig = (server: string) =>
  JSON.stringify({
    clusters: [{ name: 'c', cluster: { server } }],
    users: [],
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'here',
  });

const empty = write(
  'empty',
  JSON.stringify({ clusters: [], users: [], contexts: [], 'current-context': '' }),
);

describe('a missing configuration of the cluster is reported as a configuration problem (H1)', () => {
  test.each<[string, Partial<ConnectOptions>, string]>([
    [
      'no file, outside a cluster',
      { inCluster: true },
      'no kubeconfig file is named (PADDOCK_KUBECONFIG)',
    ],
    [
      'a file that is missing',
      { kubeconfigFile: join(folder, 'absent') },
      `${join(folder, 'absent')} cannot be read: ENOENT`,
    ],
    [
      'an unknown context',
      { kubeconfigFile: empty, context: 'prod' },
      `in ${empty} has no context named prod`,
    ],
    ['no current context', { kubeconfigFile: empty }, `in ${empty} names no current cluster`],
    [
      'an address that is none',
      { kubeconfigFile: write('odd', kubeconfig('https://:x')) },
      '"https://:x" as its cluster\'s address',
    ],
  ])('%s', (_what, options, sentence) => {
    const connect = () => connectCluster({ ...options, requestTimeoutMs: 1 });
    expect(connect).toThrow(ConfigError);
    expect(connect).toThrow(sentence);
  });

  test('a file that is none is not quoted: a token may be in it', () => {
    const kubeconfigFile = write('broken', 'users: [{ token: hidden');
    const connect = () => connectCluster({ kubeconfigFile, requestTimeoutMs: 1 });
    expect(connect).toThrow('does not have the form of a kubeconfig');
    expect(connect).not.toThrow('hidden');
  });
});
