import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { useFolder } from '@paddock/testing/use-folder';
import { emptyTables, useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { exportJWK, generateKeyPair } from 'jose';
import { sql } from 'kysely';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Console, startConsole } from '../scenes/console.scene.ts';

/** What the provider knows of a person. */
interface Person {
  readonly email: string;
  readonly email_verified?: boolean;
  readonly groups?: readonly string[];
}

/** Where browsers would find the console. */
const PUBLIC_URL = 'https://paddock.example/tools';

const CLIENT = { id: 'paddock', secret: 'the-secret-of-the-client-is-long' };

/**
 * A certified OpenID Connect provider on this machine, at which nobody has to type anything: whoever
 * comes is the person of `signsIn`; undefined: somebody who does not want to.
 */
async function startProvider() {
  // It warns of this Node, and that it keeps everything in memory, which is what tests want.
  const warn = jest.spyOn(console, 'warn').mockReturnValue();
  const { Provider } = await import('oidc-provider');
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  let next: Person | undefined;
  const people = new Map<string, Person>();
  const client = {
    client_id: CLIENT.id,
    client_secret: CLIENT.secret,
    redirect_uris: [`${PUBLIC_URL}/sign-in/callback`],
    grant_types: ['authorization_code'],
  };
  const provider = new Provider(issuer, {
    clients: [client],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig' }] },
    cookies: { keys: ['a key of the tests'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
    scopes: ['openid', 'profile', 'email', 'groups'],
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    // Else the library says in the log that they should be set.
    ttl: Object.fromEntries(
      ['AccessToken', 'Grant', 'IdToken', 'Interaction', 'Session'].map((name) => [name, 60]),
    ),
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, sub) => ({
      accountId: sub,
      claims: () => ({ sub, ...people.get(sub) }),
    }),
    async loadExistingGrant({ oidc }) {
      const [clientId, accountId] = [oidc.client?.clientId ?? '', oidc.session?.accountId ?? ''];
      const grant = new provider.Grant({ clientId, accountId });
      grant.addOIDCScope('openid profile email groups');
      await grant.save();
      return grant;
    },
  });
  warn.mockRestore();
  const handle = provider.callback();
  server.on('request', (request, response) => {
    if (!request.url?.startsWith('/interaction/')) {
      void handle(request, response);
      return;
    }
    const accountId = `person-${people.size + 1}`;
    if (next !== undefined) people.set(accountId, next);
    const result =
      next === undefined ? { error: 'access_denied' } : { login: { accountId, remember: false } };
    void provider.interactionFinished(request, response, result, {
      mergeWithLastSubmission: false,
    });
  });
  return {
    issuer,
    signsIn: (person: Person | undefined) => (next = person),
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

const ADA = { email: 'ada@example.com', email_verified: true, groups: ['ci', 'platform'] };

describe('signing in by an identity provider (G5)', () => {
  const database = useTestDatabase();
  let provider: Awaited<ReturnType<typeof startProvider>>;
  let service: Console;
  const folder = useFolder();
  let write: (changes: object) => Promise<void>;

  beforeAll(async () => {
    provider = await startProvider();
    const oidc = {
      url: PUBLIC_URL,
      issuer: provider.issuer,
      clientId: CLIENT.id,
      clientSecret: { env: 'CLIENT_SECRET' },
      scopes: ['openid', 'email', 'groups'],
    };
    const groups = { read: ['ci', 'developers'], operate: ['platform'] };
    write = (changes) =>
      writeFile(join(folder, 'sign-in.yaml'), JSON.stringify({ groups, oidc, ...changes }));
    await write({});
    service = await startConsole(database, {
      PADDOCK_CONSOLE_PATH_PREFIX: '/tools',
      PADDOCK_SIGN_IN: join(folder, 'sign-in.yaml'),
      CLIENT_SECRET: CLIENT.secret,
    });
  });
  afterAll(async () => {
    service.kill('SIGTERM');
    await service.exited;
    await provider.stop();
  });
  beforeEach(() => emptyTables(database.db, ['sessions', 'actions']));

  test('begins a session with the rights of the person’s groups, where they wanted to go', async () => {
    provider.signsIn(ADA);
    const browser = newBrowser(service);
    const end = await browser.walk(`${PUBLIC_URL}/sign-in/begin?to=/jobs/7%3Ftab=raw`);
    expect(end).toBe(`${PUBLIC_URL}/jobs/7?tab=raw`);
    expect(await who(browser)).toMatchObject({
      person: 'person ada@example.com',
      access: 'operate',
    });
    expect((await browser.get(`${PUBLIC_URL}/api/v1/tokens`)).status).toBe(200);
    expect(browser.cookies.get('__Host-paddock')).toMatch(/^[0-9a-f]{16}_[0-9a-f]{16}_[\w-]{43}$/);
    expect(browser.cookies.get('__Host-paddock-sign-in')).toBe('');

    provider.signsIn({ ...ADA, email: 'bob@example.com', groups: ['developers'] });
    const another = newBrowser(service);
    await another.walk(`${PUBLIC_URL}/sign-in/begin`);
    expect(await who(another)).toMatchObject({ person: 'person bob@example.com', access: 'read' });
    expect((await another.get(`${PUBLIC_URL}/api/v1/tokens`)).status).toBe(403);
  });

  test.each([
    // First: the log has one such line a minute.
    ['turns back at the provider', undefined, 'failed'],
    ['is in none of the groups', { ...ADA, groups: ['sales'] }, 'refused'],
    ['has an address that nobody verified', { ...ADA, email_verified: false }, 'failed'],
    ['has a name that turns the text around', { ...ADA, email: 'a\u202Ecom' }, 'failed'],
  ])('begins none for who %s', async (_who, person, why) => {
    provider.signsIn(person);
    const browser = newBrowser(service);
    const end = await browser.walk(`${PUBLIC_URL}/sign-in/begin?to=/jobs`);
    expect(end).toBe(`${PUBLIC_URL}/?sign-in=${why}`);
    expect(await who(browser)).toBe(401);
    if (person === undefined)
      await waitFor('the reason in the log', () =>
        service.lines().join().includes('access_denied'),
      );
  });

  test('is over with its time and its sign-out, and none with another secret or person', async () => {
    provider.signsIn(ADA);
    const leave = { method: 'DELETE', headers: { 'x-paddock-page': '1' } };
    for (const end of [
      () => sql`update sessions set expires_at = now()`.execute(database.db),
      (browser: Browser) => browser.get(`${PUBLIC_URL}/session`, leave),
    ]) {
      const browser = newBrowser(service);
      await browser.walk(`${PUBLIC_URL}/sign-in/begin`);
      const cookie = browser.cookies.get('__Host-paddock') ?? '';
      const [person, id, secret] = [cookie.slice(0, 16), cookie.slice(17, 33), cookie.slice(34)];
      for (const text of [
        `${person}_${id}_${'A'.repeat(43)}`,
        `${'0'.repeat(16)}_${id}_${secret}`,
        `${person}_${'0'.repeat(16)}_${secret}`,
      ]) {
        browser.cookies.set('__Host-paddock', text);
        expect(await who(browser)).toBe(401);
      }
      browser.cookies.set('__Host-paddock', cookie);
      expect(await who(browser)).toMatchObject({ access: 'operate' });
      await end(browser);
      browser.cookies.set('__Host-paddock', cookie);
      expect(await who(browser)).toBe(401);
    }
  });

  test('follows the file: a changed one is used, and of a wrong one nothing (B2)', async () => {
    provider.signsIn(ADA);
    const browser = newBrowser(service);
    await browser.walk(`${PUBLIC_URL}/sign-in/begin`);
    const ready = async () => (await service.health('/readyz')).text;
    await write({ groups: { read: [] } });
    await waitFor('the refusal', async () => (await ready()).startsWith('ready; the changed file'));
    expect(await ready()).toContain('groups: must name a group');
    expect(await who(browser)).toMatchObject({ access: 'operate' });
    await write({ groups: { read: ['ci'] } });
    await waitFor('the change', () => service.lines().join().includes('signing in is in use'));
    expect(await who(browser)).toMatchObject({ access: 'read' });
    expect(await ready()).toBe('ready');
    await write({});
    await waitFor('the rights to return', async () => {
      const { access } = (await who(browser)) as { access: string };
      return access === 'operate';
    });
  });

  test('follows no answer that this browser did not ask for, and none twice', async () => {
    provider.signsIn(ADA);
    const mine = newBrowser(service);
    const back = await mine.walk(`${PUBLIC_URL}/sign-in/begin`, (url) =>
      url.startsWith(`${PUBLIC_URL}/sign-in/callback`),
    );
    const victim = newBrowser(service);
    expect(await victim.walk(back)).toBe(`${PUBLIC_URL}/?sign-in=failed`);
    expect(await who(victim)).toBe(401);
    // Of another sign-in of the same browser.
    await victim.walk(`${PUBLIC_URL}/sign-in/begin`, (url) => !url.startsWith(PUBLIC_URL));
    expect(await victim.walk(back)).toBe(`${PUBLIC_URL}/?sign-in=failed`);

    const begun = mine.cookies.get('__Host-paddock-sign-in') ?? '';
    expect(await mine.walk(back)).toBe(`${PUBLIC_URL}/`);
    mine.cookies.set('__Host-paddock-sign-in', begun);
    expect(await mine.walk(back)).toBe(`${PUBLIC_URL}/?sign-in=failed`);
    const code = new URL(back).searchParams.get('code') ?? 'none';
    for (const secret of [code, CLIENT.secret, mine.cookies.get('__Host-paddock')?.slice(-43)])
      expect(service.lines().join()).not.toContain(secret);
  });

  test.each([
    ['//evil.example/x', `${PUBLIC_URL}//evil.example/x`],
    ['https://evil.example', `${PUBLIC_URL}/`],
    ['.evil.example', `${PUBLIC_URL}/`],
  ])('ends at this console, also if it was begun with %s', async (to, end) => {
    provider.signsIn(ADA);
    const path = `/sign-in/begin?to=${encodeURIComponent(to)}`;
    expect(await newBrowser(service).walk(PUBLIC_URL + path)).toBe(end);
  });
});

const who = async (browser: Browser) => {
  const answer = await browser.get(`${PUBLIC_URL}/session`);
  return answer.status === 200 ? answer.json() : answer.status;
};

type Sent = Pick<RequestInit, 'method'> & { readonly headers?: Readonly<Record<string, string>> };

interface Browser {
  readonly cookies: Map<string, string>;
  get(url: string, init?: Sent): Promise<Response>;
  /** Follows redirects to the last address, or to the first one that is enough. */
  walk(url: string, isEnough?: (url: string) => boolean): Promise<string>;
}

/** A browser’s cookies and redirects. The console’s public address leads to the process. */
function newBrowser({ port }: Pick<Console, 'port'>): Browser {
  const cookies = new Map<string, string>();
  const get: Browser['get'] = async (url, init = {}) => {
    const answer = await fetch(url.replace('https://paddock.example', `http://127.0.0.1:${port}`), {
      redirect: 'manual',
      ...init,
      headers: { ...init.headers, cookie: [...cookies].map(([n, v]) => `${n}=${v}`).join('; ') },
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    return answer;
  };
  return {
    cookies,
    get,
    async walk(url, isEnough = () => false) {
      const { headers } = await get(url);
      const location = headers.get('location');
      if (location === null) return url;
      const next = new URL(location, url).href;
      return isEnough(next) ? next : this.walk(next, isEnough);
    },
  };
}
