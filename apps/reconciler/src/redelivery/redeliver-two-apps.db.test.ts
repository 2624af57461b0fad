import { githubIsAway, passOf } from '../scenes/pass.scene.ts';
import { connectGitHub } from '@paddock/github/connect';
import { createAppKey } from '@paddock/simulators/github/app-key';
import { startGitHubSimulator } from '@paddock/simulators/github/start-github-simulator';
import { startReceiver } from '@paddock/simulators/github/start-receiver';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { expect, test } from '@jest/globals';
import { createWaits } from '@paddock/db/entities/waits';
import { storeEvents } from '../scenes/redelivery.scene.ts';
import { deliveryLogAtGitHub } from './read-delivery-log.ts';
import { redeliver } from './redeliver.ts';

const database = useTestDatabase();

const quiet = {
  redelivered: () => undefined,
  redeliveryRefused: () => undefined,
  listingFailed: () => undefined,
  redeliveriesGivenUp: () => undefined,
  deliveredWithoutRow: () => undefined,
};

test('two Apps: each has a separate log, marks and a budget, and one that GitHub refuses delays no other (E1, B2)', async () => {
  const receiver = await startReceiver();
  const keys = [createAppKey(), createAppKey()];
  const apps = keys.map(({ privateKeyPem, publicKeyPem }, index) => ({
    appId: 11 + index,
    privateKeyPem,
    publicKeyPem,
  }));
  const simulator = await startGitHubSimulator({
    apps: apps.map(({ appId, publicKeyPem }) => ({
      appId,
      publicKeyPem,
      webhookSecret: `secret ${appId}`,
      webhookUrl: receiver.url,
    })),
  });
  try {
    await simulator.addOrganization({ login: 'acme' });
    await simulator.addUser({ login: 'mona' });
    await simulator.addRepository({ owner: 'acme', name: 'api' });
    await simulator.addRepository({ owner: 'mona', name: 'tool' });
    await simulator.install({ appId: 11, account: 'acme', announce: false });
    await simulator.install({ appId: 12, account: 'mona', announce: false });
    await simulator.setDeliveryFaults({ lossRate: 1 });
    for (const repo of ['acme/api', 'acme/api', 'mona/tool'])
      await simulator.queueJob({ repo, labels: ['ubuntu'] });
    await simulator.setDeliveryFaults({});
    const github = connectGitHub({
      apiUrl: simulator.url,
      apps: apps.map(({ appId, privateKeyPem: privateKey }) => ({ appId, privateKey })),
      waits: createWaits(database.dbOf('reconciler'), () => undefined),
      requestTimeoutMs: 60_000,
    });
    const { signal } = new AbortController();
    const cycle = async (appId: number, perMinute = 150) =>
      redeliver(
        {
          db: database.dbOf('reconciler'),
          appId,
          log: deliveryLogAtGitHub(github, appId, signal),
          events: quiet,
          everySeconds: 300,
          windowMs: 900_000,
          maxPages: 100,
          perMinute,
          firstStepMs: 300_000,
          giveUpMs: 3 * 86_400_000,
          handOverAbove: 500,
        },
        await passOf(database.dbOf('reconciler'), { isAway: githubIsAway(github) }),
      );

    await simulator.failNext({ path: '/app/hook/deliveries$', status: 401 });
    expect(await cycle(11, 1)).toMatchObject({ listed: false, accepted: 0 });
    expect(await cycle(12, 1)).toMatchObject({
      listed: true,
      failed: 1,
      accepted: 1,
      moreDue: false,
    });
    expect(await cycle(11, 1)).toMatchObject({
      listed: true,
      failed: 2,
      accepted: 1,
      moreDue: true,
    });
    await simulator.settled();
    expect(receiver.received).toHaveLength(2);
    await storeEvents(
      database.db,
      receiver.received.map(({ guid }) => guid),
    );
    expect((await cycle(12)).resolved).toBe(1);
    const left = await database.db
      .selectFrom('unresolved_deliveries')
      .select('app_id')
      .where('resolved_at', 'is', null)
      .execute();
    expect(left).toEqual([{ app_id: 11 }, { app_id: 11 }]);
  } finally {
    await simulator.stop();
    await receiver.stop();
  }
});
