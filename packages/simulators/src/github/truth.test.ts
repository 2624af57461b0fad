import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { waitFor } from '@paddock/testing/wait-for';
import { type SmallWorld, startSmallWorld } from '../scenes/small-world.scene.ts';
import { callApi, installationAuthorization, registerRunner } from '../scenes/call-api.scene.ts';
import type { GitHubControl } from './control.ts';
import { connectControl } from '../remote-control.ts';
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
    expect(await world.github.report()).toMatchObject({
      registrations: 3,
      excessWorkers: 1,
      jobs: 2,
      lost: 2,
    });
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
    await registerRunner(world, {
      name: 'of-site',
      labels: ['linux', 'gpu'],
      repository: 'acme/site',
    });
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
    await callApi(world, 'DELETE', `/orgs/acme/actions/runners/${lost.runnerId}`, {
      authorization,
    });
    expect(await excess()).toEqual(['too-many']);
  });

  test('another process reads and controls it by the same methods', async () => {
    const remote = connectControl<GitHubControl>(world.github.url);
    await remote.addOrganization({ login: 'elsewhere' });
    const repository = await remote.addRepository({ owner: 'elsewhere', name: 'app' });
    expect(repository.name).toBe('elsewhere/app');
    const { id } = await remote.queueJob({ repo: 'elsewhere/app', labels: ['linux'] });
    expect(await remote.cancelJob(id)).toMatchObject({
      status: 'completed',
      conclusion: 'cancelled',
    });
    await remote.settled();
    expect(await remote.report()).toEqual(await world.github.report());
    expect(await remote.truth()).toEqual(await world.github.truth());
    await expect(remote.queueJob({ repo: 'no/where', labels: [] })).rejects.toThrow('404');
  });
});

describe('workflow_job payloads', () => {
  let receiver: Receiver;
  let world: SmallWorld;
  const sent = new Map<string, Payload>();

  beforeAll(async () => {
    receiver = await startReceiver();
    world = await startSmallWorld({ webhookUrl: receiver.url });
    await world.github.queueJob({
      repo: 'acme/api',
      labels: ['ubuntu-latest'],
      hosted: true,
      durationMs: 1,
    });
    await world.github.queueJob({
      repo: 'mona/tool',
      labels: ['self-hosted', 'gpu'],
      waiting: true,
    });
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
  if (Array.isArray(actual) && Array.isArray(example)) {
    const [sample] = example;
    return sample === undefined
      ? []
      : actual.flatMap((item, index) => shapeProblems(item, sample, `${path}[${index}]`));
  }
  if (isRecord(actual) && isRecord(example)) {
    const names = new Set([...Object.keys(actual), ...Object.keys(example)]);
    return [...names].flatMap((name) => {
      if (YOUNG_FIELDS.has(name)) return [];
      if (!(name in actual)) return [`${path}.${name} is missing`];
      if (!(name in example)) return [`${path}.${name} is not GitHub’s`];
      return shapeProblems(actual[name], example[name], `${path}.${name}`);
    });
  }
  return typeof actual === typeof example
    ? []
    : [`${path} is a ${typeof actual}, GitHub’s a ${typeof example}`];
}

function isRecord(value: unknown): value is Payload {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
