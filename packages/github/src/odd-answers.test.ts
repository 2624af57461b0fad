import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createAppKey } from '@paddock/simulators/github/app-key';
import { NO_WAITS } from '@paddock/testing/no-waits';
import { connectGitHub } from './connect.ts';
import { classifyGitHubError } from './errors.ts';
import { getApp } from './installations.ts';

const APP_ID = 1;
const { privateKeyPem: privateKey } = createAppKey();

const connect = (apiUrl: string) =>
  connectGitHub({
    apiUrl,
    apps: [{ appId: APP_ID, privateKey }],
    waits: NO_WAITS,
    requestTimeoutMs: 10_000,
  });
const failureOf = (call: Promise<unknown>) => call.then(() => undefined, classifyGitHubError);

const unavailable: RequestListener = (_request, response) => response.writeHead(503).end();

describe('an unusual server', () => {
  let respond = unavailable;
  const server = createServer((request, response) => respond(request, response));
  let apiUrl: string;
  beforeAll(async () => {
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => void server.close());
  const app = () => connect(apiUrl).asApp(APP_ID, { correlationId: 'the-delivery' });

  test('reports a body that breaks off as a network failure, not an empty success', async () => {
    respond = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"id":', () => response.destroy());
    };
    expect(await failureOf(getApp(app()))).toMatchObject({ kind: 'network' });
  });

  test.each(['text/html', 'application/json'])(
    'a proxy’s page (as %s) is an unavailable GitHub',
    async (type) => {
      respond = (_request, response) =>
        response.writeHead(200, { 'content-type': type }).end('<html>Please log in</html>');
      expect(await failureOf(getApp(app()))).toMatchObject({ kind: 'unavailable' });
    },
  );

  test('puts U+FFFD for characters of a name or a refusal that PostgreSQL cannot hold (B9, P6)', async () => {
    respond = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(String.raw`{"id":1,"slug":"a\u0000b\ud800","events":[],"permissions":{}}`);
    };
    expect(JSON.stringify(await app().octokit.rest.apps.getAuthenticated())).toContain(
      'a\uFFFDb\uFFFD',
    );
    respond = (_request, response) =>
      response.writeHead(404, { 'content-type': 'text/plain' }).end('no \0');
    expect(await failureOf(getApp(app()))).toMatchObject({
      message: expect.stringContaining('no \uFFFD'),
    });
  });

  test('reports a port without a listener as a network failure', async () => {
    const silent = connect('http://127.0.0.1:1');
    expect(await failureOf(getApp(silent.asApp(APP_ID)))).toMatchObject({ kind: 'network' });
  });

  test('gets the correlation id and the user agent', async () => {
    let headers = {};
    respond = (request, response) => {
      ({ headers } = request);
      response.writeHead(503).end();
    };
    expect(await failureOf(getApp(app()))).toMatchObject({ kind: 'unavailable', status: 503 });
    expect(headers).toMatchObject({ 'x-correlation-id': 'the-delivery' });
    expect(headers).toHaveProperty('user-agent', expect.stringMatching(/^paddock /));
  });
});
