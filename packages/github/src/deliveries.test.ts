import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startReceiver, type Receiver } from '@paddock/simulators/github/start-receiver';
import { startSmallWorld, type SmallWorld } from '@paddock/simulators/scenes/small-world.scene';
import { waitFor } from '@paddock/testing/wait-for';
import type { AppClient } from './connect.ts';
import { listDeliveries, redeliver, type WebhookDelivery } from './deliveries.ts';
import { classifyGitHubError } from './errors.ts';
import { isSigned } from './signature.ts';
import { connectSmallWorld } from './scenes/connect-small-world.scene.ts';

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

  test('show a receiver’s refusal as its status', async () => {
    receiver.answerWith(503);
    await queue();
    const failed = await waitFor(
      'the delivery’s entry',
      async () => (await listDeliveries(client)).deliveries[0],
    );
    expect(failed).toMatchObject({ statusCode: 503 });
  });
});
