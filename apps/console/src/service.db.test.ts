import { rulesVariable } from '@paddock/runtime/rules';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ENDPOINTS } from '@paddock/api/endpoints';
import { revokeTokenEndpoint } from '@paddock/api/tokens/tokens';
import { emptyTables } from '@paddock/testing/use-test-database';
import { putJob } from '@paddock/testing/demand-rows';
import { metricSum } from '@paddock/testing/metric-sum';
import { untilBlocked } from '@paddock/testing/sessions';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { makeToken, signIn, useConsole } from './scenes/console.scene.ts';

const { database, service } = useConsole({
  // Statements wait until a test lets them go.
  ...rulesVariable({ console: { lookEveryMs: 500, statementTimeoutMs: 60_000 } }),
  PADDOCK_CONSOLE_PATH_PREFIX: '/tools/paddock',
});
const get = (path: string, headers = {}) => service.ask(`../../${path}`, undefined, { headers });

const revoke = (name: string) =>
  revokeTokenEndpoint.answer({ db: database.db, person: 'ada', from: 'api' }, { token: name });

describe('the console', () => {
  test('is alive and ready, and its metrics are at its other port (H1)', async () => {
    expect(await service.health('/healthz')).toEqual({ status: 200, text: 'ok' });
    expect(await service.health('/readyz')).toEqual({ status: 200, text: 'ready' });
    await service.ask('tokens');
    const { text } = await service.health('/metrics');
    expect(metricSum(text, 'paddock_api_requests_total{endpoint="none",status="401"}')).toBe(1);
  });

  test.each(ENDPOINTS.filter(({ method }) => method === 'GET'))(
    'its role may read what $name answers (A10)',
    async ({ name, path }) => {
      const token = await makeToken(database, { name: `asks-${name.toLowerCase()}` });
      const filled = path.slice('/api/v1/'.length).replaceAll(/\{\w+\}/g, '7');
      // Some need more input; without a right they would fail.
      const { status } = await service.ask(filled, token);
      expect([200, 400, 404]).toContain(status);
    },
  );
});

describe('the page', () => {
  test('forbids the browser foreign scripts, foreign requests and frames', async () => {
    const { headers } = await get('jobs/7');
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    );
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  });

  test('names its files below the prefix, which browsers keep by their names', async () => {
    const html = await (await get('tools/paddock/jobs')).text();
    const files = [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, file = '']) => file);
    expect(files.map((file) => file.replace(/-\w{12}\./, '.'))).toEqual([
      '/tools/paddock/assets/icon.svg',
      '/tools/paddock/assets/page.css',
      '/tools/paddock/assets/page.js',
    ]);
    for (const file of files) {
      const { status, headers } = await get(file.slice(1));
      expect([status, headers.get('cache-control')]).toEqual([
        200,
        'public, max-age=31536000, immutable',
      ]);
    }
    expect((await get('assets/..%2f..%2fpackage.json')).status).toBe(404);
  });

  test.each([
    ['', 200],
    ['workers/x', 200],
    ['jobs/7/8', 404],
  ])('at /%s answers %d', async (path, status) => {
    const answer = await get(path);
    expect(answer.status).toBe(status);
    expect(await answer.text()).toContain('<!doctype html>');
  });
});

describe('a session', () => {
  beforeEach(() => emptyTables(database.db, ['sessions', 'tokens', 'actions']));

  test('begins with a token, reads and acts, and ends when the person wants it', async () => {
    const token = await makeToken(database, { name: 'ada' });
    const cookie = await signIn(service, token);
    const who = await get('session', { cookie });
    expect(await who.json()).toEqual({ person: 'token ada', access: 'operate', isSession: true });
    expect((await get('api/v1/installations', { cookie })).status).toBe(200);
    const act = { method: 'POST', body: '{"name":"made","access":"read"}' };
    const headers = { cookie, 'x-paddock-page': '1' };
    const acts = [{ cookie }, headers].map((sent) =>
      service.ask('tokens', undefined, { ...act, headers: sent }),
    );
    expect((await Promise.all(acts)).map(({ status }) => status)).toEqual([401, 200]);
    const { rows } = await sql`select person from actions`.execute(database.db);
    expect(rows).toContainEqual({ person: 'token ada' });
    const kept = await sql`select * from sessions`.execute(database.db);
    for (const secret of [cookie.slice(-43), token.slice(-43)])
      expect([...service.lines(), JSON.stringify(kept.rows)].join()).not.toContain(secret);
    const left = await service.ask('../../session', undefined, { method: 'DELETE', headers });
    expect(left.headers.get('set-cookie')).toMatch(/^paddock=; .*Max-Age=0$/);
    expect((await get('session', { cookie })).status).toBe(401);
  });

  test.each([
    ['the token is revoked', (name: string) => revoke(name)],
    ['it has expired', () => sql`update sessions set expires_at = now()`.execute(database.db)],
    ['its row is gone', () => sql`delete from sessions`.execute(database.db)],
  ])('is over as soon as %s', async (_what, end) => {
    const cookie = await signIn(service, await makeToken(database, { name: 'bob' }));
    expect((await get('session', { cookie })).status).toBe(200);
    await end('bob');
    expect((await get('session', { cookie })).status).toBe(401);
  });

  test('of another secret or another token is none', async () => {
    const mine = await signIn(service, await makeToken(database, { name: 'mine' }));
    const other = await signIn(service, await makeToken(database, { name: 'other' }));
    const [, token = '', id = '', secret = ''] = /=(\w{16})_(\w{16})_(.*)$/.exec(mine) ?? [];
    const [, otherToken = ''] = /=(\w{16})/.exec(other) ?? [];
    for (const text of [
      `${otherToken}_${id}_${secret}`,
      `${token}_${id}_${secret.slice(0, -1)}${secret.endsWith('A') ? 'E' : 'A'}`,
      `${token}_${'0'.repeat(16)}_${secret}`,
    ])
      expect((await get('session', { cookie: `paddock=${text}` })).status).toBe(401);
  });

  test('of a token for one sign-in begins once, within an hour, and outlives nothing', async () => {
    const make = (name: string) => makeToken(database, { name, access: 'read', oneTime: true });
    const token = await make('link');
    expect(await (await service.ask('installations', token)).json()).toMatchObject({ status: 401 });
    for (const [method, text] of [
      ['GET', token],
      ['DELETE', token],
      ['POST', token.replace('once_', '')],
      ['POST', token.slice(0, -1) + (token.endsWith('A') ? 'E' : 'A')],
    ] as const)
      expect((await service.ask('../../session', text, { method })).status).toBe(401);
    // Of four at once, one comes in.
    const cookies = await Promise.all([1, 2, 3, 4].map(() => signIn(service, token)));
    const [cookie = '', ...more] = cookies.filter((one) => one !== '');
    expect(more).toEqual([]);
    const who = await get('session', { cookie });
    expect(await who.json()).toEqual({ person: 'token link', access: 'read', isSession: true });
    await revoke('link');
    expect((await get('session', { cookie })).status).toBe(401);

    const old = await make('old');
    await sql`update tokens set created_at = now() - interval '61 minutes' where name = 'old'`.execute(
      database.db,
    );
    const gone = await make('gone');
    await revoke('gone');
    for (const text of [old, gone]) expect(await signIn(service, text)).toBe('');
  });
});

describe('the stream of changes', () => {
  let cookie: string;
  const ended: (() => void)[] = [];
  beforeAll(async () => {
    cookie = await signIn(service, await makeToken(database, { name: 'viewer', access: 'read' }));
  });
  afterEach(() => ended.splice(0).forEach((end) => end()));

  async function open(path: string) {
    const stream = eventsOf(await get(path, { cookie }));
    ended.push(stream.end);
    return stream;
  }

  test('tells a new page of everything, and then of what changes', async () => {
    const { events } = await open('changes');
    await waitFor('the first event', () => events().length > 0);
    expect(events()[0]).toMatchObject({ event: 'changed', data: expect.arrayContaining(['jobs']) });
    await putJob(database.db);
    await waitFor('the job', () =>
      events()
        .slice(1)
        .some(({ data }) => data.includes('jobs')),
    );
  });

  test('serves a hundred pages of one token, and tells the next one when to come again', async () => {
    for (let n = 0; n < 100; n += 1) await open('changes');
    const { status, headers } = await get('changes', { cookie });
    expect([status, headers.get('retry-after')]).toEqual([503, '1']);
  });

  test('ends with the session that opened it, and no other (F7)', async () => {
    const leaver = await makeToken(database, { name: 'one-of-two', access: 'read' });
    const [its, other] = [await signIn(service, leaver), await signIn(service, leaver)];
    const stream = eventsOf(await get('changes', { cookie: its }));
    const others = eventsOf(await get('changes', { cookie: other }));
    ended.push(others.end);
    const headers = { cookie: its, 'x-paddock-page': '1' };
    await service.ask('../../session', undefined, { method: 'DELETE', headers });
    expect(await stream.ended).toBeUndefined();
    await putJob(database.db);
    await waitFor('the job', () => others.events().length > 1);
  });
});

/** Of one caller: half of the connections for answers. */
const PLACES = 2;

describe('under load, and at its end', () => {
  test('one caller whose statements wait keeps no other caller waiting', async () => {
    const greedy = await makeToken(database, { name: 'greedy' });
    const other = await makeToken(database, { name: 'other' });
    for (const token of [greedy, other]) await service.ask('tokens', token);
    const statuses: number[] = [];
    let requests: Promise<unknown>[] = [];
    await whileLocked(async () => {
      requests = Array.from({ length: 150 }, async () => {
        statuses.push((await service.ask('installations', greedy)).status);
      });
      await waitFor(
        'the waiting places of one caller to be taken',
        () => statuses.length >= 50 - PLACES,
      );
      expect(new Set(statuses)).toEqual(new Set([503]));
      expect((await service.ask('tokens', other)).status).toBe(200);
    });
    await Promise.all(requests);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(PLACES);
    expect(new Set(statuses)).toEqual(new Set([200, 503]));
  });

  test('ends after its last answer', async () => {
    const token = await makeToken(database, { name: 'last' });
    let last: Promise<Response> | undefined;
    await whileLocked(async () => {
      last = service.ask('installations', token);
      await untilBlocked(database.db, { applicationName: 'paddock-console' });
      service.kill('SIGTERM');
      await waitFor(
        'the service to stop',
        async () => (await service.health('/readyz')).status === 503,
      );
    });
    expect((await last)?.headers.get('connection')).toBe('close');
    expect((await last)?.status).toBe(200);
    expect(await service.exited).toEqual({ code: 0, signal: null });
  });
});

/** Meanwhile statements that list installations wait. */
const whileLocked = (act: () => Promise<void>): Promise<void> =>
  database.db.transaction().execute(async (trx) => {
    await sql`lock table installations in access exclusive mode`.execute(trx);
    await act();
  });

/** What a stream tells, until it ends. */
function eventsOf(answer: Response) {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (answer.status !== 200 || reader === undefined)
    throw new Error(`there is no stream: ${answer.status}`);
  let text = '';
  const read = async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += value;
    }
  };
  return {
    /** Without those that the console is alive: it says so when the clock wants it. */
    events: () =>
      [...text.matchAll(/^event: (?!alive)(.*)\ndata: (.*)\n\n/gm)].map(([, event, data = '']) => ({
        event,
        data: JSON.parse(data) as string[],
      })),
    ended: read(),
    end: () => void reader.cancel(),
  };
}
