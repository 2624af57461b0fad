import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ask } from '@paddock/api/scenes/ask.scene';
import { compareRunnersEndpoint } from '@paddock/api/usage/compare';
import { decodeDelivery } from '@paddock/db/deliveries/decode-delivery';
import { recordDeliveries } from '@paddock/db/deliveries/record-deliveries';
import { currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import { playRunner } from '@paddock/simulators/github/play-runner';
import { type Receiver, startReceiver } from '@paddock/simulators/github/start-receiver';
import { registerRunner } from '@paddock/simulators/scenes/call-api.scene';
import { type SmallWorld, startSmallWorld } from '@paddock/simulators/scenes/small-world.scene';
import { examplePools, putPools } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { putWorker } from '@paddock/testing/worker-rows';

const database = useTestDatabase();
let world: SmallWorld;
let receiver: Receiver;
/** GitHub's clock, which only the test moves. */
let now = Date.now();
const waited = new Map<number, number>();
beforeAll(async () => {
  receiver = await startReceiver();
  world = await startSmallWorld({ webhookUrl: receiver.url, now: () => now });
  await putPools(database.db, examplePools());
});
afterAll(async () => {
  await world.github.stop();
  await receiver.stop();
});

/** Registers a runner of one side, and of the labels of its job. */
async function register(nth: number, isOurs: boolean) {
  const { organization } = world;
  const labels = isOurs || nth % 3 === 0 ? ['linux', 'self-hosted'] : ['old'];
  const name = isOurs ? `pdk-${nth}` : `other-${nth}`;
  const { runnerId, jitConfig } = await registerRunner(world, { name, labels });
  const { installationId, id } = organization;
  const ours = { pod_name: name, runner_id: runnerId, entity_id: id };
  if (isOurs) await putWorker(database.db, { ...ours, installation_id: installationId });
  return { nth, labels, jitConfig };
}

/** Runs a job on that runner, after some seconds. */
async function run({ nth, labels, jitConfig }: Awaited<ReturnType<typeof register>>) {
  const { github } = world;
  const result = nth % 4 === 0 ? ('failure' as const) : ('success' as const);
  const { id } = await github.queueJob({ repo: 'acme/api', labels, result, durationMs: 1 });
  const seconds = (nth * 37) % 301;
  waited.set(id, seconds);
  now += seconds * 1_000;
  await playRunner(jitConfig, new AbortController().signal);
  await waitFor('the end of the job', async () => {
    const job = (await github.truth()).jobs.find((one) => one.id === id);
    return job?.status === 'completed';
  });
}

/** As ingress does, each delivery twice. */
async function storeAll(): Promise<void> {
  const pools = await currentPoolsDocument(database.db);
  if (pools === undefined) throw new Error('The test has put pools in force.');
  for (const { event, guid, body } of receiver.received) {
    const given = { event, guid, appId: world.appId, reduces: true };
    const delivery = decodeDelivery(given, Buffer.from(body));
    if ('problem' in delivery) throw new Error(delivery.problem);
    await recordDeliveries(database.db, [delivery], pools);
    await recordDeliveries(database.db, [delivery], pools);
  }
}

/** What the simulated GitHub knows of one side. */
async function truthOf(labels: string, isOurs: boolean) {
  const those = (await world.github.truth()).jobs.filter(
    (job) => job.labels.join() === labels && job.runnerName?.startsWith(isOurs ? 'pdk-' : 'other-'),
  );
  const times = those.map(({ id }) => waited.get(id) ?? Number.NaN).toSorted((a, b) => a - b);
  const quantile = (share: number) => times[Math.ceil(share * times.length) - 1] ?? null;
  const failed = those.filter(({ conclusion }) => conclusion === 'failure').length;
  return { jobs: those.length, failed, p50: quantile(0.5), p95: quantile(0.95) };
}

test('queue times and failures of both sides are those of GitHub, by the labels of the jobs', async () => {
  const runners: Awaited<ReturnType<typeof register>>[] = [];
  for (let nth = 1; nth <= 24; nth++)
    runners.push(await register(nth, true), await register(nth, false));
  for (const runner of runners) await run(runner);
  // It never ran.
  const { id } = await world.github.queueJob({ repo: 'acme/api', labels: ['old'] });
  await world.github.cancelJob(id);
  await world.github.settled();
  await storeAll();
  const rows = ['linux,self-hosted', 'old'].map(async (labels) => ({
    labels: labels.split(','),
    ours: await truthOf(labels, true),
    others: await truthOf(labels, false),
  }));
  const { items } = await ask(compareRunnersEndpoint, database.db, { since: '2h' });
  expect(items).toEqual(await Promise.all(rows));
  const ofNobody = await ask(compareRunnersEndpoint, database.db, { entity: '1' });
  expect(ofNobody).toEqual({ items: [] });
});

test.each(['', '0d', '32d', '7', 'week'])('a span of %j is refused', async (since) => {
  await expect(async () => ask(compareRunnersEndpoint, database.db, { since })).rejects.toThrow(
    'must be a span',
  );
});
