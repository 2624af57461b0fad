import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type SmallWorld, startSmallWorld } from '@paddock/simulators/scenes/small-world.scene';
import type { GitHub, InstallationClient } from './connect.ts';
import { listDeliveries } from './deliveries.ts';
import { classifyGitHubError } from './errors.ts';
import { listInstallations } from './installations.ts';
import { listRunJobs, listRuns } from './jobs.ts';
import { type ListAnswer, readPages } from './read-pages.ts';
import { listRepositories } from './repositories.ts';
import { createRunnerGroups, ensureRunnerGroup } from './runner-groups.ts';
import { createJitConfig, listRunners } from './runners.ts';
import { connectSmallWorld } from './scenes/connect-small-world.scene.ts';

const LIST = 'actions/list-self-hosted-runner-groups-for-org';
const CREATE = 'actions/create-self-hosted-runner-group-for-org';
const SETTINGS = {
  name: 'Paddock',
  visibility: 'private',
  allowsPublicRepositories: false,
} as const;

describe('runner groups (C7)', () => {
  let world: SmallWorld;
  let github: GitHub;
  let client: InstallationClient;
  beforeEach(async () => {
    world = await startSmallWorld();
    github = connectSmallWorld(world);
    client = github.asInstallation(world.organization);
  });
  afterEach(() => world.github.stop());

  const calls = async () => (await world.github.report()).calls;

  test('makes a missing group as the settings say, and uses an existing one as it is', async () => {
    const { id, access } = await ensureRunnerGroup(client, 'acme', SETTINGS);
    expect(access).toMatchObject({
      visibility: 'private',
      allowsPublicRepositories: false,
      workflows: null,
      repositories: null,
    });
    expect(id).toBeGreaterThan(1);
    expect(
      await ensureRunnerGroup(client, 'acme', {
        ...SETTINGS,
        name: 'PADDOCK',
        visibility: 'all',
        allowsPublicRepositories: true,
      }),
    ).toEqual({ id, access });
    expect(await calls()).toMatchObject({ [CREATE]: 1 });
  });

  test('reads which repositories and workflows a group admits', async () => {
    await world.github.addRepository({ owner: 'acme', name: 'infra' });
    const workflows = ['acme/infra/.github/workflows/deploy.yaml@refs/heads/main'];
    await world.github.setRunnerGroup({
      org: 'acme',
      name: 'Infra',
      visibility: 'selected',
      repositories: ['acme/infra'],
      workflows,
    });
    expect(
      (await ensureRunnerGroup(client, 'acme', { ...SETTINGS, name: 'infra' })).access,
    ).toMatchObject({
      visibility: 'selected',
      allowsPublicRepositories: false,
      workflows,
      repositories: ['acme/infra'],
    });
  });

  test.each([403, 404])(
    'uses a group whose repositories GitHub does not show (%i), and they are unknown',
    async (status) => {
      await world.github.setRunnerGroup({
        org: 'acme',
        name: 'Hidden',
        visibility: 'selected',
        repositories: [],
      });
      const { id } = await ensureRunnerGroup(client, 'acme', { ...SETTINGS, name: 'Hidden' });
      await world.github.failNext({ path: 'runner-groups/[0-9]+/repositories$', status });
      const refused: string[] = [];
      const hidden = await ensureRunnerGroup(
        client,
        'acme',
        { ...SETTINGS, name: 'Hidden' },
        (_org, name) => void refused.push(name),
      );
      expect(hidden).toMatchObject({ id, access: { visibility: 'selected', repositories: null } });
      expect(refused).toEqual([]);
    },
  );

  test('takes "Default" as group 1, without a call', async () => {
    expect(await ensureRunnerGroup(client, 'acme', { ...SETTINGS, name: 'Default' })).toEqual({
      id: 1,
      access: undefined,
    });
    expect(await calls()).toEqual({});
  });

  test('uses the default group where the plan has none, and reports that once', async () => {
    const { appId } = world;
    const { id: entityId } = await world.github.addOrganization({
      login: 'small',
      runnerGroups: false,
    });
    const { id: installationId } = await world.github.install({ appId, account: 'small' });
    const told: string[] = [];
    const groups = createRunnerGroups({
      lifetimeMs: 60_000,
      onRefused: (org, name, { kind }) => void told.push(`${org} ${name} ${kind}`),
    });
    const small = github.asInstallation({ appId, installationId, entityId });
    for (let n = 0; n < 3; n += 1)
      expect(await groups.ensure(small, 'small', SETTINGS)).toEqual({ id: 1, access: undefined });
    expect(told).toEqual([`small ${SETTINGS.name} forbidden`]);
  });

  test('does not take an exhausted budget for a missing plan', async () => {
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '4000000000' };
    await world.github.failNext({ path: 'runner-groups$', status: 403, headers });
    expect(
      await ensureRunnerGroup(client, 'acme', SETTINGS).catch(classifyGitHubError),
    ).toMatchObject({ kind: 'rate_limited' });
  });

  test('gives two replicas that make it at once the same group', async () => {
    await world.github.failNext({
      method: 'POST',
      path: 'runner-groups$',
      status: 409,
      afterCommit: true,
    });
    expect(await ensureRunnerGroup(client, 'acme', SETTINGS)).toEqual(
      await ensureRunnerGroup(client, 'acme', SETTINGS),
    );
  });

  test('asks for a group once within its lifetime, also for simultaneous callers', async () => {
    let now = 0;
    const groups = createRunnerGroups({ lifetimeMs: 1000, now: () => now });
    const ids = await Promise.all(
      Array.from({ length: 5 }, () => groups.ensure(client, 'acme', SETTINGS)),
    );
    expect(new Set(ids.map(({ id }) => id)).size).toBe(1);
    now = 999;
    await groups.ensure(client, 'ACME', SETTINGS);
    expect(await calls()).toMatchObject({ [LIST]: 1, [CREATE]: 1 });
    now = 1000;
    await groups.ensure(client, 'acme', SETTINGS);
    expect(await calls()).toMatchObject({ [LIST]: 2, [CREATE]: 1 });
    groups.forget('Acme');
    await groups.ensure(client, 'acme', SETTINGS);
    expect(await calls()).toMatchObject({ [LIST]: 3 });
  });

  test('does not remember a failure', async () => {
    const groups = createRunnerGroups({ lifetimeMs: 1000, now: () => 0 });
    await world.github.failNext({ path: 'runner-groups$', status: 502 });
    expect(await groups.ensure(client, 'acme', SETTINGS).catch(classifyGitHubError)).toMatchObject({
      kind: 'unavailable',
    });
    expect((await groups.ensure(client, 'acme', SETTINGS)).id).toBeGreaterThan(1);
  });
});

type Item = { readonly id: number };
const items = (from: number, count: number): Item[] =>
  Array.from({ length: count }, (_, index) => ({ id: from + index }));

/**
 * A list of `total` items, with the paging facts that `tell` gives; records the requested pages.
 */
function listOf(
  count: number,
  tell: (page: readonly Item[], number: number) => Omit<ListAnswer<Item>, 'items'>,
) {
  const asked: number[] = [];
  const fetchPage = (page: number): Promise<ListAnswer<Item>> => {
    asked.push(page);
    const found = items(1, count).slice((page - 1) * 100, page * 100);
    return Promise.resolve({ items: found, ...tell(found, page) });
  };
  return { asked, fetchPage };
}

describe('reading pages', () => {
  const next =
    '<https://github.example/list?page=2>; rel="next", <https://github.example/list?page=9>; rel="last"';
  test.each<[string, number, Parameters<typeof listOf>[1], number]>([
    [
      'follows the Link header',
      150,
      (_, page) => ({ link: page === 1 ? next : '<x>; rel="prev"', total: 150 }),
      2,
    ],
    ['follows the total without a Link header', 250, () => ({ link: undefined, total: 250 }), 3],
    [
      'asks for nothing more when the page reaches the total',
      100,
      () => ({ link: undefined, total: 100 }),
      1,
    ],
    ['follows a full page without both', 100, () => ({ link: undefined }), 2],
    ['ends at a page that is not full without both', 99, () => ({ link: undefined }), 1],
    ['ends a Link header without an end at its total', 100, () => ({ link: next, total: 100 }), 2],
  ])('%s', async (_name, count, tell, pages) => {
    const { asked, fetchPage } = listOf(count, tell);
    expect(await readPages(fetchPage)).toEqual(items(1, count));
    expect(asked).toHaveLength(pages);
  });

  test.each<[string, Parameters<typeof listOf>[1]]>([
    ['a total that is never reached', () => ({ link: undefined, total: 7_000 })],
    ['a Link header that promises more than there is', () => ({ link: next })],
  ])(
    'takes no list for an answer that ends with an empty page before %s (E3)',
    async (_name, tell) => {
      const { asked, fetchPage } = listOf(100, tell);
      await expect(readPages(fetchPage)).rejects.toThrow('not complete');
      expect(asked).toHaveLength(2);
      expect(await readPages(fetchPage, { mayLack: true })).toHaveLength(100);
    },
  );

  test('asks a server twice that always answers the first page', async () => {
    let asked = 0;
    const fetchPage = () =>
      Promise.resolve({ items: items(1, 100), link: undefined, total: 500 + asked++ });
    await expect(readPages(fetchPage)).rejects.toThrow('100 of 501');
    expect(asked).toBe(2);
  });

  test('counts an item once that is on two pages: then one is missing', async () => {
    const pages = [items(1, 100), items(100, 50)];
    const fetchPage = (page: number) =>
      Promise.resolve({ items: pages[page - 1] ?? [], link: undefined, total: 150 });
    await expect(readPages(fetchPage)).rejects.toThrow('149 of 150');
  });

  test('asks for no more items than the caller wants', async () => {
    const { asked, fetchPage } = listOf(1_000, () => ({ link: next }));
    expect(await readPages(fetchPage, { most: 200 })).toHaveLength(200);
    expect(asked).toEqual([1, 2]);
  });
});

const withoutLink: typeof globalThis.fetch = async (input, init) => {
  const { status, headers, body } = await globalThis.fetch(input, init);
  return new Response(body, { status, headers: [...headers].filter(([name]) => name !== 'link') });
};

describe('lists behind a proxy that takes the Link header away (E1, E2, E4, E5)', () => {
  let world: SmallWorld;
  let github: GitHub;
  beforeEach(async () => {
    world = await startSmallWorld();
    github = connectSmallWorld(world, { fetch: withoutLink });
  });
  afterEach(() => world.github.stop());
  const installation = () => github.asInstallation(world.organization);
  const API = { owner: 'acme', repo: 'api' };

  test('gives a run’s jobs, and runs, from all pages', async () => {
    const { runId } = await world.github.queueJob({ repo: 'acme/api', labels: ['none'] });
    for (let n = 0; n < 100; n += 1)
      await world.github.queueJob({ repo: 'acme/api', labels: ['none'], runId });
    expect(await listRunJobs(installation(), API, runId)).toHaveLength(101);
    for (let n = 0; n < 100; n += 1)
      await world.github.queueJob({ repo: 'acme/api', labels: ['none'] });
    expect(await listRuns(installation(), API, { status: 'queued' })).toMatchObject({
      items: { length: 101 },
    });
  });

  test('gives runners, repositories and installations from all pages', async () => {
    const scope = { kind: 'organization', owner: 'acme' } as const;
    for (let n = 0; n < 101; n += 1) {
      await createJitConfig(installation(), scope, {
        name: `worker-${n}`,
        labels: ['linux'],
        runnerGroupId: 1,
      });
      await world.github.addRepository({ owner: 'acme', name: `part-${n}` });
      await world.github.addUser({ login: `user-${n}` });
      await world.github.install({ appId: world.appId, account: `user-${n}`, announce: false });
    }
    expect(await listRunners(installation(), scope)).toHaveLength(101);
    expect((await listRepositories(installation())).length).toBeGreaterThan(101);
    expect((await listInstallations(github.asApp(world.appId))).length).toBeGreaterThan(101);
  });

  test('says of a full page of deliveries that it may be cut off, and not of another page', async () => {
    await world.github.setDeliveryFaults({ lossRate: 1 });
    for (let n = 0; n < 99; n += 1)
      await world.github.queueJob({ repo: 'acme/api', labels: ['none'] });
    expect(await listDeliveries(github.asApp(world.appId))).toMatchObject({ isCutOff: false });
    for (let n = 0; n < 21; n += 1)
      await world.github.queueJob({ repo: 'acme/api', labels: ['none'] });
    expect(await listDeliveries(github.asApp(world.appId))).toMatchObject({
      deliveries: { length: 100 },
      isCutOff: true,
    });
    const whole = connectSmallWorld(world);
    expect(await listDeliveries(whole.asApp(world.appId))).toMatchObject({
      isCutOff: false,
      nextCursor: expect.any(String),
    });
  });
});
