import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Endpoint, endpoint } from '@paddock/api/endpoint';
import { createApp, type HttpServer, listenHttp } from '@paddock/runtime/http-server';
import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { createListener } from './create-listener.ts';
import type { AnswerOptions } from './http/answer.ts';
import { listAt } from './http/list-at.ts';
import { readBody } from './http/read-input.ts';
import { NO_PAGE } from './scenes/example-endpoints.scene.ts';

const at = (method: Endpoint['method'], path: Endpoint['path']): Endpoint =>
  endpoint({
    name: `${method} ${path}`,
    method,
    path,
    summary: 'An example.',
    access: 'read',
    status: 200,
    input: z.object({ job: z.string().optional(), pod: z.string().optional() }),
    output: z.unknown(),
    answer: (_caller, input) => Promise.resolve([`${method} ${path}`, input]),
  });

const PAGE = {
  html: '<p>page</p>',
  has: () => true,
  files: new Map([
    ['page.js', { type: 'text/javascript', bytes: Buffer.from('js'), gzipped: Buffer.from('gz') }],
  ]),
};

/** Everybody may do everything. */
const ADMITTED = {
  bearer: { person: 'ada', access: 'operate', narrowedTo: null, token: 'ada' },
  credential: { id: 'ada', ownerId: 'ada', check: () => Promise.resolve(undefined) },
  release: () => undefined,
} as const;

describe.each(['', '/tools/paddock'])('below "%s"', (prefix) => {
  let http: HttpServer;
  beforeAll(async () => {
    const app = createListener({
      ...NO_PAGE,
      admit: () => Promise.resolve(ADMITTED),
      db: undefined as unknown as AnswerOptions['db'],
      endpoints: [
        at('GET', '/api/v1/jobs/{job}'),
        at('DELETE', '/api/v1/jobs/{job}'),
        at('GET', '/api/v1/jobs/counts'),
        at('GET', '/api/v1/jobs'),
        at('POST', '/api/v1/jobs/{job}/pods/{pod}'),
      ],
      events: { answered: () => undefined },
      isStopping: () => false,
      page: PAGE,
      prefix,
    });
    http = await listenHttp(app, { port: 0, host: '127.0.0.1' });
  });
  afterAll(() => http.close());

  /** The path goes as it is. */
  const ask = async (method: string, path: string, headers = {}) => {
    const { promise, resolve } = Promise.withResolvers<[number, string, string | undefined]>();
    request({ host: '127.0.0.1', port: http.port, method, path, headers }, (answer) => {
      void text(answer).then((body) =>
        resolve([answer.statusCode ?? 0, body.trim(), answer.headers.allow]),
      );
    }).end();
    return promise;
  };
  const found = async (method: string, path: string) => {
    const [status, body] = await ask(method, prefix + path);
    return status === 200 ? JSON.parse(body) : status;
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
    ['/api/', 404],
    ['/api/v1/jobs/', 404],
    ['/api/v1//jobs', 404],
    ['/api/v1/jobs/7/', 404],
    ['/api/v1/jobs/%', 400],
    ['/api/v1/jobs/7/../7', 404],
    ['/api/v1/jobs/{job}/x', 404],
    ['/api/v1/jobs/7/pods/a/x', 404],
  ])('there is no endpoint at %s: %d', async (path, status) => {
    const [given, body] = await ask('GET', prefix + path);
    expect([given, JSON.parse(body)]).toEqual([status, expect.objectContaining({ status })]);
  });

  test('an endpoint of another method is not called: the methods there are named', async () => {
    for (const [method, path, allowed] of [
      ['PATCH', '/api/v1/jobs/7', 'GET, DELETE'],
      ['OPTIONS', '/api/v1/jobs', 'GET'],
      ['DELETE', '/changes', 'GET'],
      ['PUT', '/session', 'GET, POST, DELETE'],
    ] as const)
      expect([path, await ask(method, prefix + path)]).toEqual([
        path,
        [405, expect.stringContaining('"status":405'), allowed],
      ]);
    expect(await found('POST', '/jobs/7')).toBe(404);
  });

  test('a view and its answer share an address', async () => {
    expect(await found('GET', '/jobs/7.json')).toEqual(['GET /api/v1/jobs/{job}', { job: '7' }]);
    expect(await ask('GET', `${prefix}/jobs`, { accept: 'application/json' })).toEqual([
      200,
      '["GET /api/v1/jobs",{}]',
      undefined,
    ]);
  });

  test('files are sent by their name, compressed for whoever takes that', async () => {
    for (const [encoding, file] of [
      ['', 'js'],
      ['br, gzip', 'gz'],
      ['gzip;q=0', 'js'],
    ])
      expect(await ask('GET', `${prefix}/assets/page.js`, { 'accept-encoding': encoding })).toEqual(
        [200, file, undefined],
      );
    for (const name of ['none.js', '%', '../../etc/passwd', ''])
      expect(await ask('GET', `${prefix}/assets/${name}`)).toEqual([
        404,
        'There is no such file.',
        undefined,
      ]);
  });

  test('without an identity provider there is no sign-in by one', async () => {
    expect(await found('GET', '/sign-in/begin')).toBe(404);
  });
});

describe('a view’s list', () => {
  const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

  let http: HttpServer;
  beforeAll(async () => {
    const app = createApp();
    app.use((asked, response) => void response.json(listAt(asked) ?? null));
    http = await listenHttp(app, { port: 0, host: '127.0.0.1' });
  });
  afterAll(() => http.close());

  const listOf = async (path: string, accept = '*/*'): Promise<unknown> =>
    (await fetch(`http://127.0.0.1:${http.port}${path}`, { headers: { accept } })).json();

  test.each([
    ['*/*', null],
    [BROWSER, null],
    ['text/html, application/json', null],
    ['application/json;q=0.5, text/html', null],
    ['application/json;q=0', null],
    ['text/plain', null],
    ['application/json', '/api/v1/jobs?pool=a'],
    ['application/json, text/plain, */*', '/api/v1/jobs?pool=a'],
    ['APPLICATION/JSON; q=0.9', '/api/v1/jobs?pool=a'],
    ['text/html;q=0.5, application/json', '/api/v1/jobs?pool=a'],
  ])('a view that is asked for with Accept %s leads to %s (G1)', async (accept, list) => {
    expect(await listOf('/jobs?pool=a', accept)).toBe(list);
  });

  test.each([
    ['/.json', '/pools'],
    ['/jobs.json', '/jobs'],
    ['/jobs/7.json?a=b', '/jobs/7?a=b'],
    ['/runs/7.json?owner=acme', '/runs/7/why?owner=acme'],
    ['/installations.json', '/installations'],
  ])('%s leads to %s of the API', async (path, list) => {
    expect(await listOf(path, BROWSER)).toBe(`/api/v1${list}`);
    expect(await listOf(path.replace('.json', ''), 'application/json')).toBe(`/api/v1${list}`);
  });
});

describe('a body', () => {
  let http: HttpServer;
  beforeAll(async () => {
    const app = createApp();
    app.use(async (asked, response) => {
      const body = await readBody(asked, response);
      response.status('reply' in body ? body.reply.status : 200).end();
    });
    http = await listenHttp(app, { port: 0, host: '127.0.0.1' });
  });
  afterAll(() => http.close());

  test('a body that is too large is read to its end, and what comes after it is answered (F)', async () => {
    const socket = connect(http.port, '127.0.0.1');
    const send = (body: string, more = '') =>
      socket.write(
        `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n${more}Content-Type: application/json\r\n\r\n${body}`,
      );
    send('x'.repeat(5_000_000));
    send('{}', 'Connection: close\r\n');
    expect((await text(socket)).match(/(?<=^HTTP\/1.1 )\d+/gmu)).toEqual(['413', '200']);
  });
});
