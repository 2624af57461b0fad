import { type IncomingMessage, type RequestListener } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { Readable } from 'node:stream';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { NO_WAITS, sharedAppKey } from '@paddock/testing/stand-ins';
import { useHttpServer } from '@paddock/testing/use-http-server';
import { waitFor } from '@paddock/testing/wait-for';
import { connectGitHub } from './connect.ts';
import { classifyGitHubError } from './errors.ts';
import { LONGEST_ANSWER_BYTES } from './bounded-fetch.ts';
import { createJitConfig, listRunners } from './runners.ts';

const ACME = { kind: 'organization', owner: 'acme' } as const;
const MEGABYTE = Buffer.alloc(1024 * 1024, ' ');
const TOKEN = {
  token: 'ghs_of_acme',
  expires_at: new Date(Date.now() + 3_600_000).toISOString(),
  permissions: {},
};

function* spaces(megabytes: number): Generator<Buffer> {
  for (let sent = 0; sent < megabytes; sent++) yield MEGABYTE;
}

let respond: RequestListener;
const server = useHttpServer((request, response) => {
  request.resume();
  if (!request.url?.endsWith('/access_tokens')) return respond(request, response);
  response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(TOKEN));
});
let heard: IncomingMessage[];
beforeEach(() => {
  heard = [];
});
/** Another origin, which must receive no call. */
const elsewhere = useHttpServer((request, response) => {
  heard.push(request);
  response.setHeader('content-type', 'application/json').end('{"runners":[],"total_count":0}');
});

const client = () =>
  connectGitHub({
    apiUrl: server.url,
    apps: [{ appId: 1, privateKey: sharedAppKey().privateKeyPem }],
    waits: NO_WAITS,
    requestTimeoutMs: 20_000,
  }).asInstallation({ appId: 1, installationId: 5, entityId: 7 });

const list = () => listRunners(client(), ACME).then(() => undefined, classifyGitHubError);
const register = () =>
  createJitConfig(client(), ACME, { name: 'pdk-1', labels: ['linux'], runnerGroupId: 1 }).then(
    () => undefined,
    classifyGitHubError,
  );

describe('a server whose answers are too long is read no further', () => {
  /** Some megabytes wait in the sockets' buffers of both sides. */
  const READ_AT_MOST = LONGEST_ANSWER_BYTES + 24 * MEGABYTE.length;

  test.each<[string, Record<string, string>, number, number]>([
    ['600 MB with their length', { 'content-length': String(600 * MEGABYTE.length) }, 200, 600],
    ['600 MB in chunks', {}, 200, 600],
    ['a refusal of 600 MB', {}, 422, 600],
    ['one that never ends', {}, 200, Infinity],
    ['one that never ends, packed', { 'content-encoding': 'gzip' }, 200, Infinity],
  ])('%s', async (_what, headers, status, megabytes) => {
    let sentBytes = 0;
    let isOver = false;
    respond = ({ socket }, response) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      const answer = Readable.from(spaces(megabytes), { objectMode: false });
      const packed = 'content-encoding' in headers ? [createGzip()] : [];
      void pipeline([answer, ...packed, response]).catch(() => (isOver = true));
      socket.once('close', () => (sentBytes = socket.bytesWritten));
    };
    expect(await list()).toMatchObject({
      kind: 'unusable',
      operation: 'GET /orgs/acme/actions/runners',
      message: expect.stringContaining('longer than'),
    });
    await waitFor('the connection to be closed', () => isOver && sentBytes > 0);
    expect(sentBytes).toBeLessThan(READ_AT_MOST);
  });

  test('a list without an end ends', async () => {
    let asked = 0;
    respond = (request, response) => {
      asked += 1;
      const runners = [
        { id: asked, name: `r${asked}`, os: 'linux', status: 'online', busy: false, labels: [] },
      ];
      const link = `<${server.url}${request.url}>; rel="next"`;
      response
        .writeHead(200, { 'content-type': 'application/json', link })
        .end(JSON.stringify({ total_count: 1e9, runners }));
    };
    expect(await list()).toMatchObject({ kind: 'unusable' });
    expect(asked).toBe(1_000);
  });
});

describe('a server that redirects', () => {
  test.each([301, 302, 303, 307, 308])(
    'elsewhere (%d) is not followed: no request, no token, no body',
    async (status) => {
      respond = (_request, response) =>
        response.writeHead(status, { location: `${elsewhere.url}/stolen` }).end();
      const failures = [await list(), await register()];
      for (const failure of failures) expect(failure).toMatchObject({ kind: 'unusable' });
      expect(heard).toEqual([]);
    },
  );

  test.each([
    ['another port', (port: string) => `http://127.0.0.1:${port}/`],
    ['another name of the same host', (port: string) => `http://localhost:${port}/`],
    ['another protocol', () => server.url.replace('http:', 'https:')],
    ['no address', () => 'http://'],
    ['a relative address with a host', (port: string) => `//127.0.0.1:${port}/`],
    ['the same with backslashes', (port: string) => String.raw`\\127.0.0.1:${port}/x`],
    ['an address with our host as its user', (port: string) => `${server.url}@127.0.0.1:${port}/`],
    ['a file', () => 'file:///etc/passwd'],
    ['an address that is the answer', () => 'data:application/json,{}'],
  ])('to %s is not followed', async (_what, location) => {
    respond = (_request, response) =>
      response.writeHead(302, { location: location(new URL(elsewhere.url).port) }).end();
    expect(await list()).toMatchObject({ kind: 'unusable' });
    expect(heard).toEqual([]);
  });

  test('within its origin first and elsewhere then is not followed', async () => {
    respond = (request, response) =>
      response
        .writeHead(307, {
          location: request.url === '/there' ? `${elsewhere.url}/stolen` : '/there',
        })
        .end();
    expect(await register()).toMatchObject({
      kind: 'unusable',
      message: expect.stringContaining(elsewhere.url),
    });
    expect(heard).toEqual([]);
  });

  test('in circles ends', async () => {
    let asked = 0;
    respond = (request, response) => {
      asked += 1;
      response.writeHead(307, { location: request.url }).end();
    };
    expect(await list()).toMatchObject({ kind: 'unusable' });
    expect(asked).toBe(4);
  });

  test('within its origin is followed, and the call is repeated as it was', async () => {
    const seen: unknown[] = [];
    respond = (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        seen.push([
          request.method,
          request.headers.authorization,
          Buffer.concat(chunks).toString(),
        ]);
        if (request.url !== '/there')
          return response.writeHead(307, { location: `${server.url}/there` }).end();
        const answer = {
          runner: { id: 9, name: 'pdk-1', os: 'linux', status: 'offline', busy: false, labels: [] },
          encoded_jit_config: 'x',
        };
        return response
          .writeHead(201, { 'content-type': 'application/json' })
          .end(JSON.stringify(answer));
      });
    };
    expect(await register()).toBeUndefined();
    expect(seen).toEqual([seen[0], seen[0]]);
    expect(seen[0]).toEqual(['POST', 'token ghs_of_acme', expect.stringContaining('pdk-1')]);
  });
});

test.each([
  ['words', { message: 'eyJ-'.repeat(2_000_000) }],
  ['more words', { message: `${'-eyJ'.repeat(1_000_000)}.` }],
  ['a link', { documentation_url: '#'.repeat(8_000_000) }],
  ['another link', { documentation_url: '#a-secondary-'.repeat(600_000) }],
])('%s of megabytes in a refusal do not hold the process', async (_what, said) => {
  // If the time grew with the square of the length, this would take hours.
  respond = (_request, response) =>
    response.writeHead(403, { 'content-type': 'application/json' }).end(JSON.stringify(said));
  expect(await list()).toMatchObject({ kind: 'forbidden', status: 403 });
});
