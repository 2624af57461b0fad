import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Endpoint, endpoint } from '@paddock/api/endpoint';
import { type HttpServer, listenHttp } from '@paddock/runtime/http-server';
import { z } from 'zod';
import type { AnswerOptions } from './http/answer.ts';
import { createListener } from './create-listener.ts';
import { NO_PAGE } from './scenes/no-page.scene.ts';

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

  test('HEAD is answered as GET', async () => {
    expect(await ask('HEAD', `${prefix}/api/v1/jobs`)).toEqual([200, '', undefined]);
  });

  test('a field’s value is decoded, once and with its slashes', async () => {
    expect(await found('GET', '/api/v1/jobs/a%2Fb%20%2525')).toEqual([
      'GET /api/v1/jobs/{job}',
      { job: 'a/b %25' },
    ]);
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

  test.each(['/API/v1/jobs', '/Session', '/session/', '/jobs/%', '/tools/paddocks', '*'])(
    '%s is for the page',
    async (path) => {
      const whole = path === '*' ? path : prefix + path;
      expect(await ask('GET', whole)).toEqual([200, '<p>page</p>', undefined]);
    },
  );

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
