import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Endpoint, endpoint } from '@paddock/api/endpoint';
import { findOperationEndpoint } from '@paddock/api/operations/operation';
import { notFound, refused } from '@paddock/api/problem';
import { enqueueAlone } from '@paddock/queue/enqueue';
import { type HttpServer, listenHttp } from '@paddock/runtime/http-server';
import { createMetrics } from '@paddock/runtime/metrics';
import { emptyTables, useTestDatabase } from '@paddock/testing/use-test-database';
import { SILENT_LOG } from '@paddock/testing/stand-ins';
import { sql } from 'kysely';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { createAdmit } from './admit.ts';
import { createListener } from './create-listener.ts';
import { createConsoleEvents } from './events.ts';
import { asker, makeToken } from './scenes/console.scene.ts';

const job = z.coerce.number().int();

/** An endpoint that answers with its name and its input. */
const at = (name: string, path: string, more: Partial<Endpoint> = {}): Endpoint => ({
  ...endpoint({
    name,
    method: 'GET',
    path: `/api/v1/${path}`,
    summary: 'An example.',
    access: 'read',
    status: 200,
    input: z.object({}),
    output: z.unknown(),
    answer: (_caller, input) => Promise.resolve({ id: name, ...input }),
  }),
  ...more,
});

/** Endpoints that answer, act and fail in each way. */
const ENDPOINTS = [
  at('getJob', 'jobs/{job}', { input: z.object({ job, pod: z.string().optional() }) }),
  at('endJob', 'jobs/{job}', { method: 'DELETE', input: z.object({ job }) }),
  at('countJobs', 'jobs/counts'),
  at('listJobs', 'jobs', {
    input: z.object({ pool: z.string().max(5).optional(), after: z.string().optional() }),
    answer: () => Promise.resolve({ items: [], next: 'a"b>c&d' }),
  }),
  at('listPools', 'pools'),
  at('whyRun', 'runs/{run}/why', { input: z.object({ run: z.string() }) }),
  at('drain', 'jobs/{job}/drain', {
    method: 'POST',
    access: 'operate',
    status: 202,
    input: z.object({ job, note: z.string().max(9).optional() }),
  }),
  at('unknown', 'unknown', {
    answer: () => Promise.reject(notFound('There is no such thing.')),
  }),
  at('refused', 'refused', { answer: () => Promise.reject(refused('Not now.')) }),
  at('broken', 'broken', { answer: () => Promise.reject(new TypeError('hidden detail')) }),
  at('slow', 'slow', {
    // As a statement ends that took too long.
    answer: ({ db }) => sql`do $$ begin raise sqlstate '57014'; end $$`.execute(db),
  }),
  at('senseless', 'senseless', {
    answer: ({ db }) => sql`select ${'noon'}::timestamptz`.execute(db),
  }),
  findOperationEndpoint,
];

const PAGE = {
  html: '<p>page</p>',
  paths: [/./],
  files: new Map([
    ['page.js', { type: 'text/javascript', text: 'js', gzipped: Buffer.from('gz') }],
  ]),
};

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

const database = useTestDatabase();
const metrics = createMetrics();
let http: HttpServer;
let token: string;

beforeAll(async () => {
  const db = database.dbOf('console');
  const listener = createListener({
    admit: createAdmit({
      accessOf: () => undefined,
      proxiedIdentity: () => undefined,
      db,
      unproven: db,
      mostEach: 10,
    }),
    endpoints: ENDPOINTS,
    db,
    events: createConsoleEvents(SILENT_LOG, metrics),
    isStopping: () => false,
    streams: undefined as never, // no test opens one
    page: PAGE,
    answerSignIn: undefined,
    prefix: '/tools/paddock',
  });
  http = await listenHttp(listener, { port: 0, host: '127.0.0.1' });
});
afterAll(() => http.close());
beforeEach(async () => {
  await emptyTables(database.db, ['tokens']);
  token = await makeToken(database, { name: 'ci' });
});

const ask: ReturnType<typeof asker> = (...given) =>
  asker(`http://127.0.0.1:${http.port}`)(...given);
const post = (path: string, body: string, headers = {}) =>
  ask(path, token, { method: 'POST', body, headers });

/** Of a request that is written to a socket. */
const head = (length: number, more = '') =>
  `POST /api/v1/jobs/7/drain HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n${more}\r\n`;

const make = (input: object) => makeToken(database, { name: 'less', ...input }, ENDPOINTS);
const drain = (id: number | 'x', body = '{}') =>
  [`jobs/${id}/drain`, { method: 'POST', body }] as const;
const enqueueFor = async (requestedBy: string): Promise<string> => {
  const subject = { type: 'worker', id: requestedBy, name: 'x' };
  const [task] = await enqueueAlone(database.db, [{ kind: 'drain', subject, requestedBy }]);
  return `operations/${task?.id ?? ''}`;
};
/** All that an answer shows. */
const all = async (answer: Response) => [
  answer.status,
  await answer.text(),
  [...answer.headers].filter(([name]) => name !== 'date'),
];

describe.each(['', '/tools/paddock'])('below "%s"', (below) => {
  /** The path goes as it is. */
  const send = async (method: string, path: string, more = {}) => {
    const { promise, resolve } = Promise.withResolvers<[number, string, string | undefined]>();
    const headers = { authorization: `Bearer ${token}`, ...more };
    const asked = { host: '127.0.0.1', port: http.port, method, path: below + path, headers };
    request(asked, (answer) => {
      void text(answer).then((body) =>
        resolve([answer.statusCode ?? 0, body.trim(), answer.headers.allow]),
      );
    }).end();
    return promise;
  };
  const found = async (method: string, path: string, accept = '*/*') => {
    const [status, body] = await send(method, path, { accept });
    return status > 202 ? status : body.startsWith('<') ? 'page' : JSON.parse(body);
  };

  test.each([
    ['GET', 'jobs/counts', { id: 'countJobs' }],
    ['GET', 'jobs/7', { id: 'getJob', job: 7 }],
    ['DELETE', 'jobs/7', { id: 'endJob', job: 7 }],
    ['POST', 'jobs/7/drain', { id: 'drain', job: 7 }],
  ])('%s %s is found with its fields', async (method, path, answer) => {
    expect(await found(method, `/api/v1/${path}`)).toEqual(answer);
  });

  test.each([
    ['/api/v1', 404],
    ['/api/v1/jobs/', 404],
    ['/api/v1//jobs', 404],
    ['/api/v1/jobs/%', 400],
    ['/api/v1/jobs/7/../7', 404],
    ['/api/v1/jobs/7/drain/x', 404],
  ])('there is no endpoint at %s: %d', async (path, status) => {
    const [given, body] = await send('GET', path);
    expect([given, JSON.parse(body)]).toMatchObject([status, { status }]);
  });

  test.each([
    ['PATCH', '/api/v1/jobs/7', 'GET, DELETE'],
    ['GET', '/api/v1/jobs/7/drain', 'POST'],
    ['DELETE', '/changes', 'GET'],
    ['PUT', '/session', 'GET, POST, DELETE'],
  ])('%s of %s is not called: the methods there are named', async (method, path, allowed) => {
    const answer = [405, expect.stringContaining('"status":405'), allowed];
    expect(await send(method, path)).toEqual(answer);
  });

  const POOLS = { id: 'listPools' };
  test.each([
    ['/pools', '*/*', 'page'],
    ['/pools', BROWSER, 'page'],
    ['/pools', 'text/html, application/json', 'page'],
    ['/pools', 'application/json;q=0', 'page'],
    ['/pools', 'application/json, text/plain, */*', POOLS],
    ['/pools', 'text/html;q=0.5, application/json', POOLS],
    ['/.json', BROWSER, POOLS],
    ['/', 'application/json', POOLS],
    // A load balancer's check.
    ['/', '*/*', 'page'],
    ['/jobs/7.json?pod=a', BROWSER, { id: 'getJob', job: 7, pod: 'a' }],
    ['/runs/7.json', BROWSER, { id: 'whyRun', run: '7' }],
    ['/runs/7%2Ejson', BROWSER, 'page'],
    ['/runs/7%2Ejson', 'application/json', { id: 'whyRun', run: '7.json' }],
  ])('%s, asked for with Accept %s, is a view or its answer (G1)', async (path, accept, said) => {
    expect(await found('GET', path, accept)).toEqual(said);
    expect(await found('POST', path, accept)).toBe(404);
  });

  test.each([
    ['/history', '/jobs'],
    ['/history.json?state=waiting&pool=a%20b', '/jobs.json?state=waiting&pool=a%20b'],
  ])('%s is the list of jobs by another name: %s (G1)', async (path, jobs) => {
    const base = `http://127.0.0.1:${http.port}${below}`;
    const { status, headers, url } = await fetch(base + path, { redirect: 'manual' });
    const location = new URL(headers.get('location') ?? '', url).href;
    expect([status, location]).toEqual([302, base + jobs]);
  });

  test('a file is sent by its name, compressed if the request accepts that', async () => {
    for (const [encoding, file] of [
      ['', 'js'],
      ['br, gzip', 'gz'],
      ['gzip;q=0', 'js'],
    ]) {
      const [status, body] = await send('GET', '/assets/page.js', { 'accept-encoding': encoding });
      expect([encoding, status, body]).toEqual([encoding, 200, file]);
    }
    for (const name of ['none.js', '%', '../../etc/passwd', ''])
      expect((await send('GET', `/assets/${name}`)).slice(0, 2)).toEqual([
        404,
        'There is no such file.',
      ]);
  });

  test('without an identity provider there is no sign-in by one', async () => {
    expect(await found('GET', '/sign-in/begin')).toBe(404);
  });
});

test('an answer is JSON, which a browser neither keeps nor frames, and is counted', async () => {
  const { headers } = await ask('jobs?pool=a', token);
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    link: '<?pool=a&after=a%22b%3Ec%26d>; rel="next"',
  });
  expect(headers.has('access-control-allow-origin')).toBe(false);
  expect(await metrics.registry.metrics()).toMatch(
    /api_requests_total\{endpoint="listJobs",status="200"\} 1\n[^]*api_request_seconds_count\{endpoint="listJobs"\} 1\n/,
  );
});

describe('an input', () => {
  test.each([
    ['jobs/x', undefined, 'path.job'],
    ['jobs/7?job=8', undefined, 'query.job'],
    ['jobs?pol=x', undefined, 'query.pol'],
    ['jobs?pool=a&pool=b', undefined, 'query.pool'],
    ['jobs?pool=longer', undefined, 'query.pool'],
    ['jobs/7/drain?note=x', '{}', 'query.note'],
    ['jobs/7/drain', '{"note":7}', 'body.note'],
    ['jobs/7/drain', '{"job":8}', 'body.job'],
    ['jobs/7/drain', '{"__proto__":{"job":8}}', 'body.__proto__'],
  ])('has its mistake named: %s with the body %s', async (path, body, place) => {
    const answer = await (body === undefined ? ask(path, token) : post(path, body));
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    const type = 'about:blank';
    expect(await answer.json()).toMatchObject({ type, status: 400, errors: [{ place }] });
  });

  test.each([
    ['no JSON', '{', {}, 400],
    ['a list', '[]', {}, 400],
    ['what a form of another site may send', '{}', { 'content-type': 'text/plain' }, 415],
    ['too much', `{"note":"${'x'.repeat(5_000_000)}"}`, {}, 413],
  ])('is refused with a body that is %s', async (_what, body, headers, status) => {
    const answer = await post('jobs/7/drain', body, headers);
    expect([answer.status, await answer.json()]).toMatchObject([status, { status }]);
  });

  test('that is too large is read to its end, and what comes after it is answered (F)', async () => {
    const socket = connect(http.port, '127.0.0.1');
    socket.write(head(5_000_000) + 'x'.repeat(5_000_000));
    socket.write(`${head(2, 'Connection: close\r\n')}{}`);
    expect((await text(socket)).match(/(?<=^HTTP\/1.1 )\d+/gmu)).toEqual(['413', '202']);
  });

  test('that breaks off leaves later requests answered', async () => {
    const socket = connect(http.port, '127.0.0.1');
    socket.write(`${head(100)}{`, () => socket.destroy());
    await once(socket, 'close');
    expect((await ask('jobs/7', token)).status).toBe(200);
  });
});

test.each([
  ['unknown', 404, 'There is no such thing.'],
  ['refused', 409, 'Not now.'],
  ['nothing', 404, 'There is nothing at this path.'],
  ['senseless', 400, expect.stringMatching(/^A value of it makes no sense/)],
  ['slow', 503, 'The database does not answer in time: repeat this later.'],
  ['broken', 500, 'This is a fault of Paddock; its log says more.'],
])('what is wrong with %s is said', async (path, status, detail) => {
  const answer = await ask(path, token);
  expect(await answer.json()).toMatchObject({ status, detail });
});

describe('for a token that may do less (F7)', () => {
  test('that reads, an action says so', async () => {
    const reads = await make({ access: 'read' });
    expect((await ask('jobs/7', reads)).status).toBe(200);
    const [path, init] = drain(7);
    expect((await ask(path, reads, init)).status).toBe(403);
  });

  test('that is narrowed, all but its subject and its operations is as for a stranger', async () => {
    const narrow = await make({ endpoint: 'drain', subject: { job: 7 } });
    const stranger = await all(await ask('jobs/7'));
    for (const [status, [path, init]] of [
      [202, drain(7)],
      [202, ['jobs/07/drain', drain(7)[1]]],
      [400, drain(7, '{"note":7}')],
      [400, drain(7, '{')],
      [200, [await enqueueFor('token less'), {}]],
    ] as const)
      expect([path, (await ask(path, narrow, init)).status]).toEqual([path, status]);
    for (const [path, init] of [
      drain(8),
      drain(8, '{'),
      drain('x'),
      ['jobs/7', {}],
      ['jobs/7/drain', {}],
      ['nothing', {}],
      [await enqueueFor('ada'), {}],
      [`operations/${randomUUID()}?x=1`, {}],
    ] as const)
      expect([path, await all(await ask(path, narrow, init))]).toEqual([path, stranger]);
  });
});
