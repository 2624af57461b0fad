import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Endpoint, endpoint } from '@paddock/api/endpoint';
import { findOperationEndpoint } from '@paddock/api/operations/operation';
import { notFound, refused } from '@paddock/api/problem';
import { enqueueAlone } from '@paddock/queue/enqueue';
import { type HttpServer, listenHttp } from '@paddock/runtime/http-server';
import { createMetrics } from '@paddock/runtime/metrics';
import type { TestDatabase } from '@paddock/testing/database';
import { emptyTables } from '@paddock/testing/empty-tables';
import { SILENT_LOG } from '@paddock/testing/silent-log';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { z } from 'zod';
import { createAdmit } from '../admit.ts';
import { createListener } from '../create-listener.ts';
import { createConsoleEvents } from '../events.ts';
import { asker, makeToken } from '../scenes/console.scene.ts';

const said = z.object({ id: z.unknown() });
const example = (more: Partial<Endpoint> & Pick<Endpoint, 'name' | 'path'>): Endpoint => ({
  ...endpoint({
    name: '',
    method: 'GET',
    path: '/api/v1/',
    summary: 'An example.',
    access: 'read',
    status: 200,
    input: z.object({ job: z.coerce.number().int() }),
    output: said,
    answer: (caller, input) => Promise.resolve({ id: { person: caller.person, ...input } }),
  }),
  ...more,
});

const failing = (name: string, fail: Endpoint['answer']): Endpoint =>
  example({ name, path: `/api/v1/${name}`, input: z.object({}), answer: fail });

/** Endpoints that answer, act and fail in each way. */
const ENDPOINTS = [
  example({ name: 'getJob', path: '/api/v1/jobs/{job}' }),
  example({
    name: 'listJobs',
    path: '/api/v1/jobs',
    input: z.object({ pool: z.string().max(5).optional(), after: z.string().optional() }),
    answer: () => Promise.resolve({ items: [], next: 'a"b>c&d' }),
  }),
  example({
    name: 'drain',
    method: 'POST',
    access: 'operate',
    status: 202,
    path: '/api/v1/jobs/{job}/drain',
    input: z.object({ job: z.coerce.number().int(), note: z.string().max(9).optional() }),
    answer: (_caller, input) => Promise.resolve({ id: `of ${String(input['job'])}`, ...input }),
  }),
  failing('unknown', () => Promise.reject(notFound('There is no such thing.'))),
  failing('refused', () => Promise.reject(refused('Not now.'))),
  failing('broken', () => Promise.reject(new TypeError('hidden detail'))),
  // As a statement ends that took too long.
  failing('slow', ({ db }) => sql`do $$ begin raise sqlstate '57014'; end $$`.execute(db)),
  failing('senseless', ({ db }) => sql`select ${'noon'}::timestamptz`.execute(db)),
  findOperationEndpoint,
];

const makeLesser = (database: TestDatabase, input: object) =>
  makeToken(database, { name: 'less', ...input }, ENDPOINTS);

const drain = (job: number, body = '{}') =>
  [`jobs/${job}/drain`, { method: 'POST', body }] as const;

const enqueueFor = async (database: TestDatabase, requestedBy: string): Promise<string> => {
  const subject = { type: 'worker', id: requestedBy, name: 'x' };
  const [task] = await enqueueAlone(database.db, [{ kind: 'drain', subject, requestedBy }]);
  return task?.id ?? '';
};

/** All that an answer shows. */
const all = async (answer: Response) => [
  answer.status,
  await answer.text(),
  [...answer.headers].filter(([name]) => name !== 'date'),
];

describe('the API', () => {
  const database = useTestDatabase();
  const metrics = createMetrics();
  let http: HttpServer;
  let token: string;
  const ask: ReturnType<typeof asker> = (...given) =>
    asker(`http://127.0.0.1:${http.port}`)(...given);
  const post = (path: string, body: string, headers = {}) =>
    ask(path, token, { method: 'POST', body, headers });

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
      page: undefined,
      answerSignIn: undefined,
      prefix: '',
    });
    http = await listenHttp(listener, { port: 0, host: '127.0.0.1' });
  });
  afterAll(() => http.close());
  beforeEach(async () => {
    await emptyTables(database.db, ['tokens']);
    token = await makeToken(database, { name: 'ci' });
  });

  test('answers JSON to the token’s bearer, which a browser neither keeps nor frames', async () => {
    const answer = await ask('jobs/7', token);
    expect(await answer.json()).toEqual({ id: { person: 'token ci', job: 7 } });
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
      'x-content-type-options': 'nosniff',
    });
    expect(answer.headers.has('access-control-allow-origin')).toBe(false);
    const { headers } = await ask('jobs?pool=a', token);
    expect(headers.get('link')).toBe('<?pool=a&after=a%22b%3Ec%26d>; rel="next"');
    expect(await metrics.registry.metrics()).toMatch(
      /api_requests_total\{endpoint="getJob",status="200"\} 1\n[^]*api_request_seconds_count\{endpoint="getJob"\} 1\n/,
    );
  });

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
  ])('names the mistake in %s with the body %s', async (path, body, place) => {
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
  ])('refuses a body that is %s', async (_what, body, headers, status) => {
    const answer = await post('jobs/7/drain', body, headers);
    expect([answer.status, await answer.json()]).toMatchObject([status, { status }]);
  });

  test.each([
    ['unknown', 404, 'There is no such thing.'],
    ['refused', 409, 'Not now.'],
    ['nothing', 404, 'There is nothing at this path.'],
    ['senseless', 400, expect.stringMatching(/^A value of it makes no sense/)],
    ['slow', 503, 'The database does not answer in time: repeat this later.'],
    ['broken', 500, 'This is a fault of Paddock; its log says more.'],
  ])('says what is wrong with %s', async (path, status, detail) => {
    const answer = await ask(path, token);
    expect(await answer.json()).toMatchObject({ status, detail });
  });

  test('goes on after a sender that breaks off its body', async () => {
    const socket = connect(http.port, '127.0.0.1');
    socket.write(
      `POST /api/v1/jobs/7/drain HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
      () => socket.destroy(),
    );
    await once(socket, 'close');
    expect((await ask('jobs/7', token)).status).toBe(200);
  });

  describe('for a token that may do less (F7)', () => {
    test('that reads, an action says so', async () => {
      const reads = await makeLesser(database, { access: 'read' });
      expect((await ask('jobs/7', reads)).status).toBe(200);
      const [path, init] = drain(7);
      expect((await ask(path, reads, init)).status).toBe(403);
    });

    test('that is narrowed, it finds the operations that it asked for', async () => {
      const narrow = await makeLesser(database, { endpoint: 'drain', subject: { job: 7 } });
      const own = await enqueueFor(database, 'token less');
      const answer = await ask(`operations/${own}`, narrow);
      expect([answer.status, await answer.json()]).toMatchObject([200, { id: own }]);
    });

    test('that is narrowed, all but its subject is as for a stranger', async () => {
      const narrow = await makeLesser(database, { endpoint: 'drain', subject: { job: 7 } });
      const stranger = await all(await ask('jobs/7'));
      const [path, init] = drain(7);
      expect((await ask(path, narrow, init)).status).toBe(202);
      expect((await ask('jobs/07/drain', narrow, init)).status).toBe(202);
      for (const wrong of [drain(7, '{"note":7}'), drain(7, '{')])
        expect([wrong, (await ask(wrong[0], narrow, wrong[1])).status]).toEqual([wrong, 400]);
      for (const [other, more] of [
        drain(8),
        ['jobs/7', {}],
        ['jobs/7/drain', {}],
        ['jobs/x/drain', init],
        ['nothing', {}],
        [`operations/${await enqueueFor(database, 'ada')}`, {}],
        [`operations/${randomUUID()}?x=1`, {}],
        drain(8, '{'),
      ] as const)
        expect([other, await all(await ask(other, narrow, more))]).toEqual([other, stranger]);
    });
  });
});
