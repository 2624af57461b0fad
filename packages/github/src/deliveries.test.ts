import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createAppKey } from '@paddock/simulators/github/app-key';
import { type Receiver, startReceiver } from '@paddock/simulators/github/start-receiver';
import { NO_WAITS } from '@paddock/testing/stand-ins';
import { useHttpServer } from '@paddock/testing/use-http-server';
import { type RequestListener } from 'node:http';
import { connectGitHub } from './connect.ts';
import { type WebhookDelivery, listDeliveries, redeliver } from './deliveries.ts';
import { findInstallation, getApp, listInstallations } from './installations.ts';
import { failureOf, useSmallWorld } from './scenes/small-world.scene.ts';
import { isSigned } from './signature.ts';

describe('webhook deliveries (E1)', () => {
  let receiver: Receiver;
  beforeEach(async () => void (receiver = await startReceiver()));
  afterEach(() => receiver.stop());
  const small = useSmallWorld(() => ({ webhookUrl: receiver.url }));
  const logged = async () => (await listDeliveries(small.app)).deliveries;

  test('arrive signed, and are listed', async () => {
    await small.queue();
    await small.simulator.settled();
    const [arrived] = receiver.received;
    const body = Buffer.from(arrived?.body ?? '');
    const signature = String(arrived?.headers['x-hub-signature-256']);
    expect(await isSigned(body, signature, [small.world.webhookSecret])).toBe(true);
    const { deliveries, nextCursor } = await listDeliveries(small.app);
    expect(nextCursor).toBeUndefined();
    expect(deliveries).toMatchObject([
      {
        guid: arrived?.guid,
        event: 'workflow_job',
        action: 'queued',
        statusCode: 202,
        installationId: small.world.organization.installationId,
        repositoryId: small.world.repositories.api,
      },
    ]);
  });

  test('are listed as failed when lost, and arrive under their GUID when asked for again', async () => {
    await small.simulator.setDeliveryFaults({ lossRate: 1, lossStatusCode: 0 });
    await small.queue();
    expect(receiver.received).toEqual([]);
    const [lost] = await logged();
    expect(lost).toMatchObject({ statusCode: 0, action: 'queued' });
    await redeliver(small.app, lost?.id ?? '');
    await small.simulator.settled();
    expect(receiver.received).toMatchObject([{ guid: lost?.guid, action: 'queued' }]);
    expect(await logged()).toMatchObject([
      { guid: lost?.guid, statusCode: 202 },
      { id: lost?.id, statusCode: 0 },
    ]);
    // No JavaScript number holds its id.
    expect(Number.isSafeInteger(Number(lost?.id))).toBe(false);
    expect(lost?.id).toBe((await small.simulator.truth()).deliveries[0]?.id);
  });

  test.each(['"status_code":null', '"other":0'])(
    'an attempt with %s for a status code got no answer',
    async (told) => {
      await small.simulator.setDeliveryFaults({ lossRate: 1, lossStatusCode: 0 });
      await small.queue();
      const withoutCode: typeof globalThis.fetch = async (input, init) => {
        const { status, headers, body } = await globalThis.fetch(input, init);
        const text = await new Response(body).text();
        return new Response(text.replace('"status_code":0', told), { status, headers });
      };
      const proxied = small.connect({ fetch: withoutCode }).asApp(small.world.appId);
      const { deliveries } = await listDeliveries(proxied);
      expect(deliveries).toMatchObject([{ action: 'queued', statusCode: 0 }]);
    },
  );

  test.each([{ delivered_at: null }, { guid: null }, { repository_id: 2 ** 64 }])(
    'are listed without one that has %j',
    async (odd) => {
      const one = { id: 1, guid: 'a', delivered_at: '2026-01-31T09:00:00Z', status_code: 200 };
      const known = { ...one, event: 'ping', installation_id: null, repository_id: null };
      const body = [{ ...known, ...odd, id: 2 }, known];
      await small.simulator.failNext({ path: '/deliveries$', status: 200, body });
      expect((await logged()).map(({ id }) => id)).toEqual(['1']);
    },
  );

  test('are behind a page without one readable entry, and not behind one without entries (E1)', async () => {
    const link = `<${small.simulator.url}/app/hook/deliveries?cursor=further>; rel="next"`;
    const answer = { path: '/deliveries$', status: 200, headers: { link } };
    await small.simulator.failNext({ ...answer, body: [{ id: 1 }] });
    expect(await listDeliveries(small.app)).toMatchObject({
      deliveries: [],
      nextCursor: 'further',
    });
    await small.simulator.failNext({ ...answer, body: [] });
    expect(await failureOf(listDeliveries(small.app))).toMatchObject({
      kind: 'unusable',
      message: expect.stringContaining('an empty page of the delivery log'),
    });
  });

  test('are listed page by page, newest first, while more arrive', async () => {
    await small.simulator.setDeliveryFaults({ lossRate: 1 });
    await small.queueMany(250);
    const listed: WebhookDelivery[] = [];
    let page = await listDeliveries(small.app);
    for (;;) {
      listed.push(...page.deliveries);
      if (page.nextCursor === undefined) break;
      await small.queue();
      page = await listDeliveries(small.app, { cursor: page.nextCursor });
    }
    expect(listed).toHaveLength(250);
    expect(new Set(listed.map(({ guid }) => guid)).size).toBe(250);
    const ids = listed.map(({ id }) => BigInt(id));
    expect(ids).toEqual(ids.toSorted((a, b) => (a > b ? -1 : 1)));
  });

  test('end a log of exactly a hundred entries with its first page, without blaming a proxy', async () => {
    await small.simulator.setDeliveryFaults({ lossRate: 1 });
    await small.queueMany(100);
    const page = await listDeliveries(small.app);
    expect(page).toMatchObject({ deliveries: { length: 100 }, isCutOff: false });
    expect(page.nextCursor).toBeUndefined();
    // A longer log that ends with a full page.
    await small.queueMany(100);
    const { nextCursor = '' } = await listDeliveries(small.app);
    expect(await listDeliveries(small.app, { cursor: nextCursor })).toMatchObject({
      deliveries: { length: 100 },
      isCutOff: false,
    });
  });

  test('cannot be asked for once gone from the log', async () => {
    expect(await failureOf(redeliver(small.app, '1'))).toMatchObject({
      kind: 'not_found',
    });
  });
});

describe('installations (A12)', () => {
  const small = useSmallWorld();

  test('are found by id', async () => {
    const { organization, appId } = small.world;
    expect(await findInstallation(small.app, { id: organization.installationId })).toEqual({
      id: organization.installationId,
      appId,
      entityId: organization.id,
      login: 'acme',
      entityType: 'Organization',
      selection: 'all',
      suspendedAt: null,
      permissions: expect.objectContaining({ metadata: 'read' }),
      settingsUrl: expect.stringMatching(/\/acme\/settings\/installations\/\d+$/),
    });
  });

  test('are undefined when gone, and not when GitHub fails', async () => {
    const { organization, user } = small.world;
    await small.simulator.uninstall(organization.installationId);
    expect(await findInstallation(small.app, { id: organization.installationId })).toBeUndefined();
    const id = user.installationId;
    await small.simulator.failNext({ path: `/app/installations/${id}$`, status: 500 });
    const failure = await failureOf(findInstallation(small.app, { id }));
    expect(failure).toMatchObject({ kind: 'unavailable' });
  });

  test('are listed, suspended ones too', async () => {
    await small.simulator.suspend(small.world.user.installationId);
    const listed = await listInstallations(small.app);
    expect(listed.map(({ login }) => login)).toEqual(['acme', 'mona']);
    expect(listed[1]?.suspendedAt).toMatch(/^\d{4}-/);
  });

  test('show the App’s permissions and events (H4)', async () => {
    const rights = { permissions: { metadata: 'read' }, events: [] };
    await small.simulator.setApp(small.world.appId, rights);
    expect(await getApp(small.app)).toEqual({
      ...rights,
      settingsUrl: `${small.simulator.url}/organizations/simulated-owner/settings/apps/paddock-1234`,
      githubTime: expect.any(Number),
    });
  });
});

const APP_ID = 1;
const { privateKeyPem: privateKey } = createAppKey();

const connect = (apiUrl: string) =>
  connectGitHub({
    apiUrl,
    apps: [{ appId: APP_ID, privateKey }],
    waits: NO_WAITS,
    requestTimeoutMs: 10_000,
  });

const unavailable: RequestListener = (_request, response) => response.writeHead(503).end();

describe('an unusual server', () => {
  let respond = unavailable;
  const server = useHttpServer((request, response) => respond(request, response));
  const app = () => connect(server.url).asApp(APP_ID, { correlationId: 'the-delivery' });

  test('reports a body that breaks off as a network failure, not an empty success', async () => {
    respond = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"id":', () => response.destroy());
    };
    expect(await failureOf(getApp(app()))).toMatchObject({ kind: 'network' });
  });

  test.each(['text/html', 'application/json'])(
    'a proxy’s page (as %s) is an unavailable GitHub',
    async (type) => {
      respond = (_request, response) =>
        response.writeHead(200, { 'content-type': type }).end('<html>Please log in</html>');
      expect(await failureOf(getApp(app()))).toMatchObject({ kind: 'unavailable' });
    },
  );

  test('puts U+FFFD for characters of a name or a refusal that PostgreSQL cannot hold (B9, P6)', async () => {
    respond = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(String.raw`{"id":1,"slug":"a\u0000b\ud800","events":[],"permissions":{}}`);
    };
    expect(JSON.stringify(await app().octokit.rest.apps.getAuthenticated())).toContain(
      'a\uFFFDb\uFFFD',
    );
    respond = (_request, response) =>
      response.writeHead(404, { 'content-type': 'text/plain' }).end('no \0');
    expect(await failureOf(getApp(app()))).toMatchObject({
      message: expect.stringContaining('no \uFFFD'),
    });
  });

  test('reports a port without a listener as a network failure', async () => {
    const silent = connect('http://127.0.0.1:1');
    expect(await failureOf(getApp(silent.asApp(APP_ID)))).toMatchObject({ kind: 'network' });
  });

  test('gets the correlation id and the user agent', async () => {
    let headers = {};
    respond = (request, response) => {
      ({ headers } = request);
      response.writeHead(503).end();
    };
    expect(await failureOf(getApp(app()))).toMatchObject({ kind: 'unavailable', status: 503 });
    expect(headers).toMatchObject({ 'x-correlation-id': 'the-delivery' });
    expect(headers).toHaveProperty('user-agent', expect.stringMatching(/^paddock /));
  });
});
