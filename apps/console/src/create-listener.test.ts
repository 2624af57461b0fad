import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Endpoint, endpoint } from '@paddock/api/endpoint';
import { type HttpServer, listenHttp } from '@paddock/runtime/http-server';
import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { createListener } from './create-listener.ts';
import type { AnswerOptions } from './http/answer.ts';

const at = (method: Endpoint['method'], path: Endpoint['path']): Endpoint =>
  endpoint({
    name: `${method} ${path}`,
    method,
    path,
    summary: 'An example.',
    access: 'read',
    status: 200,
    input: z.object({
      job: z.string().optional(),
      pod: z.string().optional(),
      run: z.string().optional(),
    }),
    output: z.unknown(),
    answer: (_caller, input) => Promise.resolve([`${method} ${path}`, input]),
  });

const PAGE = {
  html: '<p>page</p>',
  paths: [/./],
  files: new Map([
    ['page.js', { type: 'text/javascript', text: 'js', gzipped: Buffer.from('gz') }],
  ]),
};

/** Everybody may do everything. */
const ADMITTED = {
  bearer: { person: 'ada', access: 'operate', narrowedTo: null, token: 'ada' },
  credential: { id: 'ada', ownerId: 'ada', check: () => Promise.resolve(undefined) },
  release: () => undefined,
} as const;

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

describe.each(['', '/tools/paddock'])('below "%s"', (below) => {
  let http: HttpServer;
  beforeAll(async () => {
    const app = createListener({
      admit: () => Promise.resolve(ADMITTED),
      db: undefined as unknown as AnswerOptions['db'],
      endpoints: [
        at('GET', '/api/v1/jobs/{job}'),
        at('DELETE', '/api/v1/jobs/{job}'),
        at('GET', '/api/v1/jobs/counts'),
        at('GET', '/api/v1/jobs'),
        at('GET', '/api/v1/pools'),
        at('GET', '/api/v1/runs/{run}/why'),
        at('POST', '/api/v1/jobs/{job}/pods/{pod}'),
      ],
      events: { answered: () => undefined },
      isStopping: () => false,
      streams: undefined as never, // no test opens one
      answerSignIn: undefined,
      page: PAGE,
      prefix: '/tools/paddock',
    });
    http = await listenHttp(app, { port: 0, host: '127.0.0.1' });
  });
  afterAll(() => http.close());

  /** The path goes as it is. */
  const ask = async (method: string, path: string, headers = {}) => {
    const { promise, resolve } = Promise.withResolvers<[number, string, string | undefined]>();
    const asked = { host: '127.0.0.1', port: http.port, method, path: below + path, headers };
    request(asked, (answer) => {
      void text(answer).then((body) =>
        resolve([answer.statusCode ?? 0, body.trim(), answer.headers.allow]),
      );
    }).end();
    return promise;
  };
  const found = async (method: string, path: string, accept = '*/*') => {
    const [status, body] = await ask(method, path, { accept });
    return status !== 200 ? status : body.startsWith('<') ? 'page' : JSON.parse(body);
  };

  test.each([
    ['GET', '/api/v1/jobs', {}],
    ['GET', '/api/v1/jobs/counts', {}],
    ['GET', '/api/v1/jobs/{job}', { job: '7' }],
    ['DELETE', '/api/v1/jobs/{job}', { job: '7' }],
    ['POST', '/api/v1/jobs/{job}/pods/{pod}', { job: '7', pod: 'a' }],
  ])('%s %s is found with its fields', async (method, path, fields) => {
    const filled = path.replace('{job}', '7').replace('{pod}', 'a');
    expect(await found(method, filled)).toEqual([`${method} ${path}`, fields]);
  });

  test.each([
    ['/api/v1', 404],
    ['/api/v1/jobs/', 404],
    ['/api/v1//jobs', 404],
    ['/api/v1/jobs/%', 400],
    ['/api/v1/jobs/7/../7', 404],
    ['/api/v1/jobs/7/pods/a/x', 404],
  ])('there is no endpoint at %s: %d', async (path, status) => {
    const [given, body] = await ask('GET', path);
    expect([given, JSON.parse(body)]).toMatchObject([status, { status }]);
  });

  test.each([
    ['PATCH', '/api/v1/jobs/7', 'GET, DELETE'],
    ['DELETE', '/changes', 'GET'],
    ['PUT', '/session', 'GET, POST, DELETE'],
  ])('%s of %s is not called: the methods there are named', async (method, path, allowed) => {
    const answer = [405, expect.stringContaining('"status":405'), allowed];
    expect(await ask(method, path)).toEqual(answer);
  });

  test.each([
    ['/jobs', '*/*', 'page'],
    ['/jobs', BROWSER, 'page'],
    ['/jobs', 'text/html, application/json', 'page'],
    ['/jobs', 'application/json;q=0', 'page'],
    ['/jobs', 'application/json, text/plain, */*', ['GET /api/v1/jobs', {}]],
    ['/jobs', 'text/html;q=0.5, application/json', ['GET /api/v1/jobs', {}]],
    ['/.json', BROWSER, ['GET /api/v1/pools', {}]],
    ['/', 'application/json', ['GET /api/v1/pools', {}]],
    ['/jobs/7.json?pod=a', BROWSER, ['GET /api/v1/jobs/{job}', { job: '7', pod: 'a' }]],
    ['/runs/7.json', BROWSER, ['GET /api/v1/runs/{run}/why', { run: '7' }]],
  ])('%s, asked for with Accept %s, is a view or its answer (G1)', async (path, accept, said) => {
    expect(await found('GET', path, accept)).toEqual(said);
    expect(await found('POST', path, accept)).toBe(404);
  });

  test('files are sent by their name, compressed for whoever takes that', async () => {
    for (const [encoding, file] of [
      ['', 'js'],
      ['br, gzip', 'gz'],
      ['gzip;q=0', 'js'],
    ])
      expect(await ask('GET', '/assets/page.js', { 'accept-encoding': encoding })).toEqual([
        200,
        file,
        undefined,
      ]);
    for (const name of ['none.js', '%', '../../etc/passwd', ''])
      expect(await ask('GET', `/assets/${name}`)).toEqual([
        404,
        'There is no such file.',
        undefined,
      ]);
  });

  test('without an identity provider there is no sign-in by one', async () => {
    expect(await found('GET', '/sign-in/begin')).toBe(404);
  });

  test('a body that is too large is read to its end, and what comes after it is answered (F)', async () => {
    const socket = connect(http.port, '127.0.0.1');
    const send = (body: string, more = '') =>
      socket.write(
        `POST ${below}/api/v1/jobs/7/pods/a HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n${more}Content-Type: application/json\r\n\r\n${body}`,
      );
    send('x'.repeat(5_000_000));
    send('{}', 'Connection: close\r\n');
    expect((await text(socket)).match(/(?<=^HTTP\/1.1 )\d+/gmu)).toEqual(['413', '200']);
  });
});
