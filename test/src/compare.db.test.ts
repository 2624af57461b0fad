import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ask } from '@paddock/api/scenes/ask.scene';
import { compareRunnersEndpoint } from '@paddock/api/usage/compare';
import { decodeDelivery } from '@paddock/db/deliveries/decode-delivery';
import { recordDeliveries } from '@paddock/db/deliveries/record-deliveries';
import { currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import { playRunner } from '@paddock/simulators/github/play-runner';
import { seededRandom } from '@paddock/simulators/random';
import { type Receiver, startReceiver } from '@paddock/simulators/github/start-receiver';
import { registerRunner } from '@paddock/simulators/scenes/call-api.scene';
import { type SmallWorld, startSmallWorld } from '@paddock/simulators/scenes/small-world.scene';
import { putJob, putPools, putWorker } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';

const database = useTestDatabase();
let world: SmallWorld;
let receiver: Receiver;
/** GitHub's clock, which only the test moves. */
let now = Date.now();
const waited = new Map<number, number>();
beforeAll(async () => {
  receiver = await startReceiver();
  world = await startSmallWorld({ webhookUrl: receiver.url, now: () => now });
  await putPools(database.db);
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
  expect(ofNobody).toEqual({ items: [], times: [] });
});

/** The value below or at which so many lie, by counting. */
function nearest(times: readonly number[], share: number): number | null {
  const counts = new Map<number, number>();
  for (const time of times) counts.set(time, (counts.get(time) ?? 0) + 1);
  let below = 0;
  for (let second = 0; second <= LONGEST_S; second += 1) {
    below += counts.get(second) ?? 0;
    if (below > 0 && below >= share * times.length) return second;
  }
  return null;
}
const LONGEST_S = 4_000;

/** In whole seconds, as GitHub writes instants. */
const at = (ms: number) =>
  new Date(Math.floor(ms / 1_000) * 1_000).toISOString().replace('.000', '');

const sumOf = (rows: readonly { ours: { jobs: number }; others: { jobs: number } }[]) =>
  rows.reduce((sum, { ours: mine, others }) => sum + mine.jobs + others.jobs, 0);

test('of two thousand jobs, to the second, as counted beside it; deliveries come in any order, some twice', async () => {
  const last = receiver.received.findLast(({ body }) => body.includes('"action":"completed"'));
  const example = JSON.parse(last?.body ?? '{}') as { workflow_job: object };
  const draw = seededRandom(2_000);
  const pools = await currentPoolsDocument(database.db);
  if (pools === undefined) throw new Error('The test has put pools in force.');
  const ours = {
    entity_id: world.organization.id,
    installation_id: world.organization.installationId,
  };
  for (let nth = 0; nth < 10; nth += 1)
    await putWorker(database.db, { ...ours, pod_name: `pdk-fleet-${nth}`, runner_id: 9_000 + nth });
  const begun = now - 3_600_000;
  const jobs = Array.from({ length: 2_000 }, (_, nth) => ({
    id: 5_000_000 + nth,
    label: `l${Math.floor(draw() ** 2 * 5)}`,
    isOurs: draw() < 0.4,
    hasFailed: draw() < 0.1,
    // Most are short, a few very long.
    seconds: Math.floor(draw() ** 4 * LONGEST_S),
    isTwice: draw() < 0.2,
    place: draw(),
  }));
  const deliveries = jobs
    .flatMap((job) => [job, ...(job.isTwice ? [{ ...job, place: draw() }] : [])])
    .toSorted((a, b) => a.place - b.place)
    .map(({ id, label, isOurs, hasFailed, seconds, place }) => {
      const job = {
        ...example.workflow_job,
        id,
        labels: [label],
        created_at: at(begun),
        started_at: at(begun + seconds * 1_000),
        completed_at: at(begun + (seconds + 30) * 1_000),
        runner_name: `${isOurs ? 'pdk-fleet' : 'other'}-${id % 10}`,
        conclusion: hasFailed ? 'failure' : 'success',
      };
      const body = JSON.stringify({ ...example, workflow_job: job });
      const given = {
        event: 'workflow_job',
        guid: `${id}-${place}`,
        appId: world.appId,
        reduces: true,
      };
      const delivery = decodeDelivery(given, Buffer.from(body));
      if ('problem' in delivery) throw new Error(delivery.problem);
      return delivery;
    });
  for (let from = 0; from < deliveries.length; from += 50)
    await recordDeliveries(database.db, deliveries.slice(from, from + 50), pools);

  const side = (label: string, isOurs: boolean) => {
    const those = jobs.filter((job) => job.label === label && job.isOurs === isOurs);
    const times = those.map(({ seconds }) => seconds);
    return {
      jobs: those.length,
      failed: those.filter(({ hasFailed }) => hasFailed).length,
      p50: nearest(times, 0.5),
      p95: nearest(times, 0.95),
    };
  };
  const { items, times } = await ask(compareRunnersEndpoint, database.db, { since: '7d' });
  expect(sumOf(times)).toBe(sumOf(items));
  const found = items.filter(({ labels: [label = ''] }) => /^l\d$/.test(label));
  expect(found).toHaveLength(5);
  expect(found).toEqual(
    found.map(({ labels }) => ({
      labels,
      ours: side(labels.join(), true),
      others: side(labels.join(), false),
    })),
  );
  expect(sumOf(found)).toBe(2_000);
});

test.each(['', '0d', '32d', '7', 'week'])('a span of %j is refused', async (since) => {
  await expect(async () => ask(compareRunnersEndpoint, database.db, { since })).rejects.toThrow(
    'must be a span',
  );
});

test('of all entities, a span of more than a week is refused', async () => {
  await expect(async () =>
    ask(compareRunnersEndpoint, database.db, { since: '8d' }),
  ).rejects.toMatchObject({ status: 400, detail: 'Ask for at most 7 days, or for one entity.' });
});

test('a job that GitHub says started in the year 9999 leaves the others compared', async () => {
  const before = await ask(compareRunnersEndpoint, database.db, { since: '7d' });
  await putJob(database.db, {
    status: 'completed',
    wants_worker: false,
    job_labels: '["odd"]',
    runner_name: 'other-odd',
    conclusion: 'success',
    started_at: new Date('9999-12-31T00:00:00Z'),
  });
  await expect(ask(compareRunnersEndpoint, database.db, { since: '7d' })).resolves.toEqual(before);
});

test.each([
  ['without labels', { id: 6_000_000, labels: null }],
  ['without an instant', { id: 6_000_001, started_at: '' }],
  ['with a start on February 30', { id: 6_000_003, started_at: '2026-02-30T00:00:00Z' }],
  ['with an instant in seconds', { id: 6_000_002, created_at: 1_700_000_000 }],
])('a job %s that no pool serves leaves the others compared', async (_what, odd) => {
  const read = async () => {
    const { items } = await ask(compareRunnersEndpoint, database.db, { since: '7d' });
    return items.filter(({ labels }) => labels.length > 0);
  };
  const before = await read();
  const last = receiver.received.findLast(({ body }) => body.includes('"action":"completed"'));
  const example = JSON.parse(last?.body ?? '{}') as { workflow_job: object };
  const times = { created_at: at(now), started_at: at(now) };
  const job = { ...example.workflow_job, ...times, runner_name: 'other-odd', labels: [], ...odd };
  const body = JSON.stringify({ ...example, workflow_job: job });
  const given = { event: 'workflow_job', guid: body, appId: world.appId, reduces: true };
  const delivery = decodeDelivery(given, Buffer.from(body));
  const pools = await currentPoolsDocument(database.db);
  if ('problem' in delivery || pools === undefined) throw new Error('It is stored.');
  await recordDeliveries(database.db, [delivery], pools);
  expect(await read()).toEqual(before);
});
