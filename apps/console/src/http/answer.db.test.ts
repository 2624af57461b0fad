import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { enqueueAlone } from '@paddock/queue/enqueue';
import { type HttpServer, listenHttp } from '@paddock/runtime/http-server';
import { createMetrics } from '@paddock/runtime/metrics';
import type { TestDatabase } from '@paddock/testing/database';
import { emptyTables } from '@paddock/testing/empty-tables';
import { metricSum } from '@paddock/testing/metric-sum';
import { SILENT_LOG } from '@paddock/testing/silent-log';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createAdmit } from '../admit.ts';
import { createListener } from '../create-listener.ts';
import { createConsoleEvents } from '../events.ts';
import { asker, makeToken } from '../scenes/console.scene.ts';
import { ENDPOINTS, NO_PAGE, TOKENS_ALONE } from '../scenes/example-endpoints.scene.ts';

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

const count = (page: string, labels: string): number =>
  metricSum(page, `paddock_api_requests_total{${labels}}`);

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
      admit: createAdmit({ ...TOKENS_ALONE, db, unproven: db, mostEach: 10 }),
      endpoints: ENDPOINTS,
      db,
      events: createConsoleEvents(SILENT_LOG, metrics),
      isStopping: () => false,
      ...NO_PAGE,
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
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ id: { person: 'token ci', job: 7 } });
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
      'x-content-type-options': 'nosniff',
    });
    expect(answer.headers.has('access-control-allow-origin')).toBe(false);
  });

  test.each([
    ['jobs/x', 'path.job'],
    ['jobs/7?job=8', 'query.job'],
    ['jobs/7?__proto__=x', 'query.__proto__'],
    ['jobs?pol=x', 'query.pol'],
    ['jobs?pool=a&pool=b', 'query.pool'],
    ['jobs?pool=longer', 'query.pool'],
    ['jobs?access_token=x', 'query.access_token'],
  ])('names the mistake in %s', async (path, place) => {
    const answer = await ask(path, token);
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(await answer.json()).toMatchObject({
      type: 'about:blank',
      status: 400,
      errors: [{ place }],
    });
  });

  test.each([
    ['{"note":7}', 'body.note'],
    ['{"note":"too long a note"}', 'body.note'],
    ['{"job":8}', 'body.job'],
    ['{"toString":8}', 'body.toString'],
    ['{"__proto__":{"job":8}}', 'body.__proto__'],
  ])('names the mistake in the body %s', async (body, place) => {
    const answer = await post('jobs/7/drain', body);
    expect(await answer.json()).toMatchObject({ status: 400, errors: [{ place }] });
  });

  test.each([
    ['no JSON', '{', {}, 400],
    ['a list', '[]', {}, 400],
    ['null', 'null', {}, 400],
    ['what a form of another site may send', '{}', { 'content-type': 'text/plain' }, 415],
    ['no type', '{}', { 'content-type': '' }, 415],
    ['too much', `{"note":"${'x'.repeat(5_000_000)}"}`, {}, 413],
  ])('refuses a body that is %s', async (_what, body, headers, status) => {
    const answer = await post('jobs/7/drain', body, headers);
    expect([answer.status, await answer.json()]).toEqual([
      status,
      expect.objectContaining({ status }),
    ]);
  });

  test.each([
    ['unknown', 404, 'There is no such thing.'],
    ['refused', 409, 'Not now.'],
    ['nothing', 404, 'There is nothing at this path.'],
    ['senseless', 400, expect.stringMatching(/^A value of it makes no sense/)],
    ['broken', 500, 'This is a fault of Paddock; its log says more.'],
    ['endless', 500, 'This is a fault of Paddock; its log says more.'],
  ])('says what is wrong with %s', async (path, status, detail) => {
    const answer = await ask(path, token);
    expect(await answer.json()).toMatchObject({ status, detail });
  });

  test('says that the database did not answer in time', async () => {
    const answering = ask('slow', token);
    await waitFor('a slow statement to cancel', async () => {
      const { rows } = await sql`
        select pg_cancel_backend(pid) from pg_stat_activity
        where datname = current_database() and query like 'select pg_sleep(60)%' and state = 'active'`.execute(
        database.db,
      );
      return rows.length > 0;
    });
    const answer = await answering;
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
  });

  test('names the methods of a path', async () => {
    const answer = await ask('jobs/7/drain', token);
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
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

  test('counts what it answered, by endpoint', async () => {
    const before = await metrics.registry.metrics();
    await ask('jobs/7', token);
    await ask('x');
    const after = await metrics.registry.metrics();
    for (const labels of ['endpoint="getJob",status="200"', 'endpoint="none",status="401"'])
      expect([labels, count(after, labels) - count(before, labels)]).toEqual([labels, 1]);
    expect(after).toContain('paddock_api_request_seconds_count{endpoint="getJob"}');
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
      expect([answer.status, await answer.json()]).toEqual([
        200,
        expect.objectContaining({ id: own }),
      ]);
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
        drain(8, '{"note":"x"}'),
        ['jobs/7', {}],
        ['jobs', {}],
        ['jobs/7/drain', {}],
        ['jobs/x/drain', init],
        ['nothing', {}],
        ['slow', {}],
        ['operations/none', {}],
        [`operations/${randomUUID()}`, {}],
        [`operations/${await enqueueFor(database, 'ada')}`, {}],
        [`operations/${randomUUID()}?x=1`, {}],
        ['jobs?pol=x', {}],
        drain(8, '{"note":7}'),
        drain(8, '{'),
      ] as const)
        expect([other, await all(await ask(other, narrow, more))]).toEqual([other, stranger]);
    });
  });
});
