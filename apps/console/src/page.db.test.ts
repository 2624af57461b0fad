import { rulesVariable } from '@paddock/runtime/rules';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { listInstallationsEndpoint } from '@paddock/api/installations/installations';
import { revokeTokenEndpoint } from '@paddock/api/tokens/tokens';
import { emptyTables } from '@paddock/testing/empty-tables';
import { putJob } from '@paddock/testing/demand-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { makeToken, useConsole } from './scenes/console.scene.ts';
import { eventsOf, signIn } from './scenes/session.scene.ts';

const { database, service } = useConsole({
  ...rulesVariable({ console: { lookEveryMs: 500 } }),
  PADDOCK_CONSOLE_PATH_PREFIX: '/tools/paddock',
});
const get = (path: string, headers = {}) => service.ask(`../../${path}`, undefined, { headers });

const revoke = (name: string) =>
  revokeTokenEndpoint.answer({ db: database.db, person: 'ada', from: 'api' }, { token: name });

describe('the page', () => {
  test('is HTML for whoever takes anything, and JSON for whoever asks for it (G1)', async () => {
    const token = await makeToken(database, { name: 'formats' });
    for (const [path, accept, type] of [
      ['installations', '*/*', 'text/html; charset=utf-8'],
      ['installations', 'text/html', 'text/html; charset=utf-8'],
      ['installations', 'application/json', 'application/json'],
      ['installations.json?limit=1', '*/*', 'application/json'],
      ['tools/paddock/installations.json', '*/*', 'application/json'],
    ] as const) {
      const answer = await service.ask(`../../${path}`, token, { headers: { accept } });
      expect([path, accept, answer.status, answer.headers.get('content-type')]).toEqual([
        path,
        accept,
        200,
        type,
      ]);
      if (type === 'application/json') listInstallationsEndpoint.output.parse(await answer.json());
    }
  });

  test('runs, shows and asks nothing but its own, and nobody frames it', async () => {
    const { headers } = await get('jobs/7');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy.split('; ').toSorted()).toEqual([
      "base-uri 'none'",
      "connect-src 'self'",
      "default-src 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "img-src 'self'",
      "require-trusted-types-for 'script'",
      "script-src 'self'",
      "style-src 'self'",
      "trusted-types 'none'",
    ]);
    expect(policy).not.toContain('unsafe');
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
    expect((await get('assets/none.js')).status).toBe(404);
    expect((await get('assets/..%2f..%2fpackage.json')).status).toBe(404);
  });

  test.each([
    ['', 200],
    ['jobs', 200],
    ['jobs/7', 200],
    ['workers/x', 200],
    ['jobs/7/8', 404],
    ['nothing', 404],
    ['jobs/', 404],
  ])('at /%s answers %d', async (path, status) => {
    const answer = await get(path);
    expect(answer.status).toBe(status);
    expect(await answer.text()).toContain('<!doctype html>');
  });
});

describe('a session', () => {
  beforeEach(() => emptyTables(database.db, ['sessions', 'tokens', 'actions']));

  test('begins with a token, reads and acts, and ends when the person wants it', async () => {
    const cookie = await signIn(service, await makeToken(database, { name: 'ada' }));
    const who = await get('session', { cookie });
    expect(await who.json()).toEqual({ person: 'token ada', access: 'operate', isSession: true });
    expect((await service.ask('installations', undefined, { headers: { cookie } })).status).toBe(
      200,
    );
    const act = { method: 'POST', body: '{"name":"made","access":"read"}' };
    expect((await service.ask('tokens', undefined, { ...act, headers: { cookie } })).status).toBe(
      401,
    );
    const headers = { cookie, 'x-paddock-page': '1' };
    expect((await service.ask('tokens', undefined, { ...act, headers })).status).toBe(200);
    const rows = await sql`select person from actions`.execute(database.db);
    expect(rows.rows).toContainEqual({ person: 'token ada' });
    expect(
      (await service.ask('../../session', undefined, { method: 'DELETE', headers })).headers.get(
        'set-cookie',
      ),
    ).toMatch(/^paddock=; .*Max-Age=0$/);
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

  test('is nothing that a token for one thing may begin (F7)', async () => {
    const input = { name: 'narrow', endpoint: 'findJob', subject: { job: 7 } };
    const token = await makeToken(database, input);
    const answer = await service.ask('../../session', token, { method: 'POST' });
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([401, null]);
  });

  test('of a token for one sign-in begins once, within an hour, and outlives nothing', async () => {
    const make = (name: string) => makeToken(database, { name, access: 'read', oneTime: true });
    const token = await make('link');
    expect(await (await service.ask('installations', token)).json()).toMatchObject({ status: 401 });
    const asIfOrdinary = token.replace('once_', '');
    for (const [method, text] of [
      ['GET', token],
      ['DELETE', token],
      ['POST', asIfOrdinary],
      ['POST', token.slice(0, -1) + (token.endsWith('A') ? 'E' : 'A')],
    ] as const)
      expect((await service.ask('../../session', text, { method })).status).toBe(401);
    // Of four at once, one comes in.
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => service.ask('../../session', token, { method: 'POST' })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(3);
    const [cookie = ''] = answers.flatMap(
      ({ headers }) => headers.get('set-cookie')?.split(';')[0] ?? [],
    );
    expect(await (await get('session', { cookie })).json()).toEqual({
      person: 'token link',
      access: 'read',
      isSession: true,
    });
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

  test('is stored as a hash, and no log has its text or the token’s', async () => {
    const token = await makeToken(database, { name: 'logged' });
    const cookie = await signIn(service, token);
    const secret = cookie.slice(-43);
    const rows = await sql`select * from sessions`.execute(database.db);
    expect(JSON.stringify(rows.rows)).not.toContain(secret);
    expect(service.lines().join()).not.toContain(secret);
    expect(service.lines().join()).not.toContain(token.slice(-43));
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
    const stream = await eventsOf(await get(path, { cookie }));
    ended.push(stream.end);
    return stream;
  }

  test('tells a new page of everything, and then of what changes', async () => {
    const { events } = await open('changes');
    await waitFor('the first event', () => events.length > 0);
    expect(events[0]).toMatchObject({ event: 'changed', data: expect.arrayContaining(['jobs']) });
    await putJob(database.db);
    await waitFor('the job', () =>
      events.slice(1).some(({ data }) => (data as string[]).includes('jobs')),
    );
    expect(events.some(({ event }) => event === 'pools')).toBe(false);
  });

  test('has a place for so many pages of one token, and then says when to come again', async () => {
    for (let n = 0; n < 100; n += 1) await open('changes');
    const { status, headers } = await get('changes', { cookie });
    expect([status, headers.get('retry-after')]).toEqual([503, '1']);
  });

  test('ends with the session that opened it, and no other (F7)', async () => {
    const leaver = await makeToken(database, { name: 'one-of-two', access: 'read' });
    const [its, other] = [await signIn(service, leaver), await signIn(service, leaver)];
    const stream = await eventsOf(await get('changes', { cookie: its }));
    const others = await eventsOf(await get('changes', { cookie: other }));
    ended.push(others.end);
    const headers = { cookie: its, 'x-paddock-page': '1' };
    await service.ask('../../session', undefined, { method: 'DELETE', headers });
    expect(await stream.ended).toBeUndefined();
    await putJob(database.db);
    await waitFor('the job', () => others.events.length > 1);
  });
});
