import { beforeAll, describe, expect, test } from '@jest/globals';
import { fieldsOfPath } from '@paddock/api/endpoint';
import { ENDPOINTS } from '@paddock/api/endpoints';
import { revokeTokenEndpoint } from '@paddock/api/tokens/tokens';
import { sqlStateOf } from '@paddock/db/connection/errors';
import type { Db } from '@paddock/db/schema/tables';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { sql } from 'kysely';
import { makeToken, useConsole } from './scenes/console.scene.ts';

/** Each endpoint with a value in each field of its path, and paths that are nothing. */
const REQUESTS = [
  ...ENDPOINTS.map(({ name, method, path }) => ({ name, method, path: pathWith(path, 'ci') })),
  ...[
    ['GET', 'nothing'],
    ['GET', '../../session'],
    ['POST', '../../session'],
    ['DELETE', '../../session'],
    ['GET', '../../changes'],
    ['GET', '../../jobs.json'],
    ['GET', '../../nothing.json'],
    ['POST', '../../jobs'],
    ['GET', 'tokens/%'],
    ['OPTIONS', 'tokens'],
    ['PUT', 'tokens'],
    ['HEAD', 'tokens'],
  ].map(([method = '', path = '']) => ({ name: 'none', method, path })),
];

function pathWith(path: string, value: string): string {
  return path.slice('/api/v1/'.length).replaceAll(/\{\w+\}/g, value);
}

/** No token is narrowed to these. */
const NEVER = new Set(['revokeToken', 'endSessions']);

/** Endpoints with a subject, and one that their schemas take. */
const NARROWABLE = ENDPOINTS.flatMap(({ name, path, input }) => {
  const fields = fieldsOfPath(path);
  const value = ['7', 'ci'].find((text) =>
    fields.every((field) => input.shape[field]?.safeParse(text).success),
  );
  return fields.length === 0 || NEVER.has(name) || value === undefined
    ? []
    : [{ name, subject: Object.fromEntries(fields.map((field) => [field, value])) }];
});

/** The client of a HEAD request may ask for the connection's end. */
const OF_CONNECTION = new Set(['connection', 'keep-alive']);

/** All that an answer shows; HEAD lacks the body by itself. */
const shown = async (answer: Response, method: string) => ({
  status: answer.status,
  headers: [...answer.headers].filter(([name]) => name !== 'date' && !OF_CONNECTION.has(name)),
  body: method === 'HEAD' ? '' : await answer.text(),
});

describe('an outsider learns nothing (G5)', () => {
  const { database, service } = useConsole();
  let operating: string;
  const bad: Record<string, string> = {};

  beforeAll(async () => {
    operating = await makeToken(database, { name: 'ci' });
    bad['revoked'] = await makeToken(database, { name: 'revoked' });
    // It was good in this process before.
    await service.ask('tokens', bad['revoked']);
    await revokeTokenEndpoint.answer(
      { db: database.db, person: 'ada', from: 'api' },
      { token: 'revoked' },
    );
    bad['unknown'] = `paddock_${'0'.repeat(16)}_${'A'.repeat(43)}`;
    bad['of another secret'] = operating.slice(0, -1) + (operating.endsWith('A') ? 'B' : 'A');
    bad['cut off'] = operating.slice(0, -1);
  });

  test.each(REQUESTS)('by $method $path', async ({ method, path }) => {
    const expected = {
      ...(await shown(await service.ask('tokens'), method)),
      ...(method === 'HEAD' && { body: '' }),
    };
    expect(expected.status).toBe(401);
    for (const [what, token] of [['no token', undefined] as const, ...Object.entries(bad)])
      expect([what, await shown(await service.ask(path, token, { method }), method)]).toEqual([
        what,
        expected,
      ]);
  });

  test.each(['', 'healthz', 'metrics', 'jobs', 'jobs/7', 'tokens', 'nothing', 'api'])(
    'by the page at /%s, which is the same for all',
    async (path) => {
      const page = await shown(await service.ask(`../../${path}`), 'GET');
      expect(page.body).toContain('<!doctype html>');
      for (const token of Object.values(bad))
        expect(await shown(await service.ask(`../../${path}`, token), 'GET')).toEqual(page);
    },
  );

  test.each(NARROWABLE)('by a token for one subject of $name (F7)', async ({ name, subject }) => {
    const token = await makeToken(database, { name: name.toLowerCase(), endpoint: name, subject });
    const others = REQUESTS.filter((request) => request.name !== name);
    expect(others).toHaveLength(REQUESTS.length - 1);
    for (const { method, path } of others)
      expect([
        method,
        path,
        await shown(await service.ask(path, token, { method }), method),
      ]).toEqual([
        method,
        path,
        await shown(await service.ask(path, undefined, { method }), method),
      ]);
  });

  test.each([
    ['in the query', '?access_token=TOKEN&token=TOKEN', {}],
    ['in a cookie', '', { cookie: 'token=TOKEN; access_token=TOKEN' }],
    ['as a password', '', { authorization: `Basic ${btoa('x:TOKEN')}` }],
    ['without its scheme', '', { authorization: 'TOKEN' }],
    ['of another scheme', '', { authorization: 'token TOKEN' }],
    ['twice', '', { authorization: 'Bearer TOKEN TOKEN' }],
    ['in a header of its own', '', { 'x-api-key': 'TOKEN', 'x-forwarded-user': 'ada' }],
  ])('by a good token %s', async (_what, query, headers) => {
    const given = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.replaceAll('TOKEN', operating)]),
    );
    const answer = await service.ask(`tokens${query.replaceAll('TOKEN', operating)}`, undefined, {
      headers: given,
    });
    expect(answer.status).toBe(401);
  });

  test('from the log: neither a token nor a path is in it', () => {
    const log = service.lines().join('\n');
    for (const text of [operating, operating.slice(-43), 'access_token', ...Object.values(bad)])
      expect(log).not.toContain(text);
  });

  test('and a flood of made-up tokens keeps no good one waiting', async () => {
    await service.ask('tokens', operating);
    const flood = Array.from({ length: 300 }, (_one, index) =>
      service.ask('tokens', `paddock_${index.toString(16).padStart(16, '0')}_${'A'.repeat(43)}`),
    );
    expect((await service.ask('tokens', operating)).status).toBe(200);
    const statuses = (await Promise.all(flood)).map(({ status }) => status);
    expect(statuses.filter((status) => status !== 401 && status !== 503)).toEqual([]);
  });
});

const DENIED = '42501';

/** An attacker who has taken the console over has its connection to the database. */
describe('with the connection of the console (A10)', () => {
  const database = useTestDatabase();
  let own: Db;

  beforeAll(() => {
    own = database.dbOf('console');
  });

  test.each([
    [
      'puts pools of their own in force',
      `insert into pools_documents (digest, content) values ('x', '{}')`,
    ],
    ['makes a worker', `insert into workers (pod_name, k8s_image) values ('pdk-evil', 'evil:1')`],
    ['gives a worker another image', `update workers set k8s_image = 'evil:1'`],
    ['ends a worker', `update workers set status = 'failed', completed_at = now()`],
    ['gives a worker a job', `update workers set assigned_job_id = 1`],
    ['ends a job', `update jobs set status = 'completed'`],
    ['forgets jobs', `delete from jobs`],
    ['forgets deliveries', `delete from installation_events`],
    ['makes up a delivery', `insert into installation_events (event) values ('x')`],
    ['changes an installation', `update installations set suspended_at = null`],
    ['takes a task for itself', `update tasks set status = 'running', locked_by = 'x'`],
    ['turns a task into another', `update tasks set kind = 'x', subject_id = 'x'`],
    ['makes a failed operation good', `update operations set status = 'OK', failure_reason = null`],
    ['forgets an operation', `delete from operations`],
    ['ends a task', `delete from tasks`],
    ['holds a lease', `update leases set holder = 'x'`],
    ['lets a failing key go on', `update demand_keys set failures = 0`],
    ['ends an outage', `delete from outages`],
    ['gives a login to another entity', `update login_pins set entity_id = 1`],
    ['lets a token do more', `update tokens set access = 'operate', endpoint = null`],
    ['gives a token another secret', `update tokens set secret_sha256 = '${'0'.repeat(64)}'`],
    ['forgets who made a token', `update tokens set created_by = 'x'`],
    ['forgets a token', `delete from tokens`],
    ['forgets what people did', `delete from actions`],
    ['changes what people did', `update actions set person = 'x'`],
    ['says that another set a switch', `update switches set switched_by = 'x'`],
    ['passes for a newer schema', `insert into schema_migration values ('9999_x', 'x')`],
    [
      'adds a trigger',
      `create trigger mine before insert on tokens for each row execute function touch_row()`,
    ],
    ['takes another service’s role', `set role paddock_scheduler`],
  ])('a client never %s', async (_what, statement) => {
    expect(
      await sql
        .raw(statement)
        .execute(own)
        .then(() => 'allowed', sqlStateOf),
    ).toBe(DENIED);
  });
});
