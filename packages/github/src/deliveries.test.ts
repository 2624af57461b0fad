import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createAppKey } from '@paddock/simulators/github/app-key';
import { type Receiver, startReceiver } from '@paddock/simulators/github/start-receiver';
import { type SmallWorld, startSmallWorld } from '@paddock/simulators/scenes/small-world.scene';
import { NO_WAITS } from '@paddock/testing/no-waits';
import { type RequestListener, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AppClient, connectGitHub } from './connect.ts';
import { type WebhookDelivery, listDeliveries, redeliver } from './deliveries.ts';
import { classifyGitHubError } from './errors.ts';
import { findInstallation, getApp, listInstallations } from './installations.ts';
import { connectSmallWorld } from './scenes/connect-small-world.scene.ts';
import { isSigned } from './signature.ts';

describe('webhook deliveries (E1)', () => {
  let receiver: Receiver;
  let world: SmallWorld;
  let client: AppClient;
  beforeEach(async () => {
    receiver = await startReceiver();
    world = await startSmallWorld({ webhookUrl: receiver.url });
    client = connect(globalThis.fetch);
  });
  afterEach(async () => {
    await world.github.stop();
    await receiver.stop();
  });

  const connect = (fetch: typeof globalThis.fetch): AppClient =>
    connectSmallWorld(world, { fetch }).asApp(world.appId);
  const queue = () => world.github.queueJob({ repo: 'acme/api', labels: ['none'] });

  test('arrive signed, and are listed', async () => {
    await queue();
    await world.github.settled();
    const [arrived] = receiver.received;
    expect(
      await isSigned(
        Buffer.from(arrived?.body ?? ''),
        String(arrived?.headers['x-hub-signature-256']),
        [world.webhookSecret],
      ),
    ).toBe(true);
    const { deliveries, nextCursor } = await listDeliveries(client);
    expect(nextCursor).toBeUndefined();
    expect(deliveries).toMatchObject([
      {
        guid: arrived?.guid,
        event: 'workflow_job',
        action: 'queued',
        statusCode: 202,
        installationId: world.organization.installationId,
        repositoryId: world.repositories.api,
      },
    ]);
  });

  test('are listed as failed when lost, and arrive under their GUID when asked for again', async () => {
    await world.github.setDeliveryFaults({ lossRate: 1, lossStatusCode: 0 });
    await queue();
    expect(receiver.received).toEqual([]);
    const [lost] = (await listDeliveries(client)).deliveries;
    expect(lost).toMatchObject({ statusCode: 0, action: 'queued' });
    await redeliver(client, lost?.id ?? '');
    await world.github.settled();
    expect(receiver.received).toMatchObject([{ guid: lost?.guid, action: 'queued' }]);
    expect((await listDeliveries(client)).deliveries).toMatchObject([
      { guid: lost?.guid, statusCode: 202 },
      { id: lost?.id, statusCode: 0 },
    ]);
  });

  test.each(['null', undefined])(
    'an attempt with the status code %p got no answer',
    async (code) => {
      await world.github.setDeliveryFaults({ lossRate: 1, lossStatusCode: 0 });
      await queue();
      const withoutCode: typeof globalThis.fetch = async (input, init) => {
        const { status, headers, body } = await globalThis.fetch(input, init);
        const text = await new Response(body).text();
        const told = text.replace(
          '"status_code":0',
          code === undefined ? '"other":0' : `"status_code":${code}`,
        );
        return new Response(told, { status, headers });
      };
      expect((await listDeliveries(connect(withoutCode))).deliveries).toMatchObject([
        { action: 'queued', statusCode: 0 },
      ]);
    },
  );

  test('keep every digit of an id that no JavaScript number holds, and are asked for by it', async () => {
    await world.github.setDeliveryFaults({ lossRate: 1 });
    await queue();
    const [lost] = (await listDeliveries(client)).deliveries;
    expect(Number.isSafeInteger(Number(lost?.id))).toBe(false);
    expect(lost?.id).toBe((await world.github.truth()).deliveries[0]?.id);
    await redeliver(client, lost?.id ?? '');
    await world.github.settled();
    expect(receiver.received).toMatchObject([{ guid: lost?.guid }]);
  });

  test('are listed page by page, newest first, while more arrive', async () => {
    await world.github.setDeliveryFaults({ lossRate: 1 });
    for (let n = 0; n < 250; n += 1) await queue();
    const listed: WebhookDelivery[] = [];
    let page = await listDeliveries(client);
    for (;;) {
      listed.push(...page.deliveries);
      if (page.nextCursor === undefined) break;
      await queue();
      page = await listDeliveries(client, { cursor: page.nextCursor });
    }
    expect(listed).toHaveLength(250);
    expect(new Set(listed.map(({ guid }) => guid)).size).toBe(250);
    const ids = listed.map(({ id }) => BigInt(id));
    expect(ids).toEqual(ids.toSorted((a, b) => (a > b ? -1 : 1)));
  });

  test('end a log of exactly a hundred entries with its first page, without blaming a proxy', async () => {
    await world.github.setDeliveryFaults({ lossRate: 1 });
    for (let n = 0; n < 100; n += 1) await queue();
    const page = await listDeliveries(client);
    expect(page).toMatchObject({ deliveries: { length: 100 }, isCutOff: false });
    expect(page.nextCursor).toBeUndefined();
    // A longer log that ends with a full page.
    for (let n = 0; n < 100; n += 1) await queue();
    const { nextCursor = '' } = await listDeliveries(client);
    expect(await listDeliveries(client, { cursor: nextCursor })).toMatchObject({
      deliveries: { length: 100 },
      isCutOff: false,
    });
  });

  test('cannot be asked for once gone from the log', async () => {
    expect(await redeliver(client, '1').catch(classifyGitHubError)).toMatchObject({
      kind: 'not_found',
    });
  });
});

describe('installations (A12)', () => {
  let world: SmallWorld;
  let client: AppClient;
  beforeEach(async () => {
    world = await startSmallWorld();
    client = connectSmallWorld(world).asApp(world.appId);
  });
  afterEach(() => world.github.stop());

  test('are found by id', async () => {
    const { organization, appId } = world;
    const onAcme = {
      id: organization.installationId,
      appId,
      entityId: organization.id,
      login: 'acme',
      entityType: 'Organization',
      selection: 'all',
      suspendedAt: null,
    };
    expect(await findInstallation(client, { id: organization.installationId })).toEqual(onAcme);
  });

  test('are undefined when gone, and not when GitHub fails', async () => {
    await world.github.uninstall(world.organization.installationId);
    expect(
      await findInstallation(client, { id: world.organization.installationId }),
    ).toBeUndefined();
    const { installationId: id } = world.user;
    await world.github.failNext({ path: `/app/installations/${id}$`, status: 500 });
    expect(await findInstallation(client, { id }).catch(classifyGitHubError)).toMatchObject({
      kind: 'unavailable',
    });
  });

  test('are listed, suspended ones too', async () => {
    await world.github.suspend(world.user.installationId);
    const listed = await listInstallations(client);
    expect(listed.map(({ login }) => login)).toEqual(['acme', 'mona']);
    expect(listed[1]?.suspendedAt).toMatch(/^\d{4}-/);
  });

  test('show the App’s permissions and events (H4)', async () => {
    await world.github.setApp(world.appId, { events: [], permissions: { metadata: 'read' } });
    expect(await getApp(client)).toEqual({
      permissions: { metadata: 'read' },
      events: [],
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
const failureOf = (call: Promise<unknown>) => call.then(() => undefined, classifyGitHubError);

const unavailable: RequestListener = (_request, response) => response.writeHead(503).end();

describe('an unusual server', () => {
  let respond = unavailable;
  const server = createServer((request, response) => respond(request, response));
  let apiUrl: string;
  beforeAll(async () => {
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => void server.close());
  const app = () => connect(apiUrl).asApp(APP_ID, { correlationId: 'the-delivery' });

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
