import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { waitFor } from '@paddock/testing/wait-for';
import { type SmallWorld, startSmallWorld } from '../scenes/small-world.scene.ts';
import { callApi, installationAuthorization, registerRunner } from '../scenes/call-api.scene.ts';
import { exampleOf } from './fragments.ts';
import { playRunner } from './play-runner.ts';
import { type Receiver, startReceiver } from './start-receiver.ts';
import type { Payload } from './world.ts';

const never = new AbortController().signal;

describe('the truth of the simulated GitHub', () => {
  let world: SmallWorld;
  let now: number;
  beforeEach(async () => {
    now = Date.now();
    world = await startSmallWorld({ now: () => now });
  });
  afterEach(() => world.github.stop());

  const queue = (...labels: string[]) =>
    world.github.queueJob({ repo: 'acme/api', labels, durationMs: 1 });
  const register = (name: string, ...labels: string[]) => registerRunner(world, { name, labels });
  const excess = async () =>
    (await world.github.truth()).registrations
      .filter(({ inExcess }) => inExcess)
      .map(({ name }) => name);

  test('a runner for each queued job is not in excess, one more is', async () => {
    await queue('linux');
    await queue('linux');
    await register('first', 'linux');
    await register('second', 'linux');
    await register('third', 'linux');
    expect(await excess()).toEqual(['third']);
    const counts = { registrations: 3, excessWorkers: 1, jobs: 2, lost: 2 };
    expect(await world.github.report()).toMatchObject(counts);
  });

  test('a runner without any job is in excess until it runs one', async () => {
    const { jitConfig } = await register('early', 'linux');
    expect(await excess()).toEqual(['early']);
    await queue('linux');
    await playRunner(jitConfig, never);
    expect(await excess()).toEqual([]);
    expect(await world.github.report()).toMatchObject({ excessWorkers: 0, completed: 1, lost: 0 });
  });

  test('runners that cannot serve the job cover nothing', async () => {
    await queue('linux', 'gpu');
    await register('plain', 'linux');
    const ofSite = { name: 'of-site', labels: ['linux', 'gpu'], repository: 'acme/site' };
    await registerRunner(world, ofSite);
    await register('with-gpu', 'gpu', 'LINUX');
    expect(await excess()).toEqual(['plain', 'of-site']);
  });

  test('a runner that has not connected within a minute covers nothing', async () => {
    await queue('linux');
    await register('stuck', 'linux');
    now += 60_000;
    await register('instead', 'linux');
    expect(await excess()).toEqual([]);
  });

  test('a runner that went away before it connected covered nothing, so its replacement is no excess', async () => {
    await queue('linux');
    const lost = await register('lost', 'linux');
    await register('replacement', 'linux');
    await register('too-many', 'linux');
    expect(await excess()).toEqual(['replacement', 'too-many']);
    const authorization = await installationAuthorization(world);
    const path = `/orgs/acme/actions/runners/${lost.runnerId}`;
    await callApi(world, 'DELETE', path, { authorization });
    expect(await excess()).toEqual(['too-many']);
  });
});

describe('workflow_job payloads', () => {
  let receiver: Receiver;
  let world: SmallWorld;
  const sent = new Map<string, Payload>();

  beforeAll(async () => {
    receiver = await startReceiver();
    world = await startSmallWorld({ webhookUrl: receiver.url });
    const hosted = { labels: ['ubuntu-latest'], hosted: true, durationMs: 1 };
    await world.github.queueJob({ repo: 'acme/api', ...hosted });
    await world.github.queueJob({ repo: 'mona/tool', labels: ['gpu'], waiting: true });
    await waitFor('the four deliveries', () => receiver.received.length === 4);
    for (const { action, body } of receiver.received)
      sent.set(String(action), JSON.parse(body) as Payload);
  });
  afterAll(async () => {
    await world.github.stop();
    await receiver.stop();
  });

  test.each([
    ['queued', 5],
    ['in_progress', 3],
    ['completed', 2],
    ['waiting', 7],
  ])('%s has the fields and types of GitHub’s own example %i', (action, index) => {
    const {
      organization: _organization,
      installation: _installation,
      ...example
    } = exampleOf('workflow_job', index);
    const { organization: _ours, installation, ...payload } = sent.get(action) ?? {};
    expect(shapeProblems(payload, example)).toEqual([]);
    expect(shapeProblems(installation, exampleOf('workflow_job', 5)['installation'])).toEqual([]);
  });
});

/** Fields that only the newer examples have. */
const YOUNG_FIELDS = new Set(['has_discussions', 'allow_forking', 'custom_properties']);

/**
 * The paths at which the form of `actual` differs from the form of `example`. Null matches any
 * type: the job decides which fields are filled.
 */
function shapeProblems(actual: unknown, example: unknown, path = ''): string[] {
  if (actual === null || example === null) return [];
  if (typeof actual !== typeof example || Array.isArray(actual) !== Array.isArray(example))
    return [`${path} is of another type`];
  if (Array.isArray(actual) && Array.isArray(example))
    return example.length === 0
      ? []
      : actual.flatMap((item, at) => shapeProblems(item, example[0], `${path}[${at}]`));
  if (typeof actual !== 'object') return [];
  const [ours, theirs] = [actual, example] as [Payload, Payload];
  return [...new Set([...Object.keys(ours), ...Object.keys(theirs)])]
    .filter((name) => !YOUNG_FIELDS.has(name))
    .flatMap((name) =>
      name in ours && name in theirs
        ? shapeProblems(ours[name], theirs[name], `${path}.${name}`)
        : [`${path}.${name} is in one of them only`],
    );
}
