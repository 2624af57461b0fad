import { describe, expect, test } from '@jest/globals';
import { listDeliveries } from './deliveries.ts';
import { listInstallations } from './installations.ts';
import { listRunJobs, listRuns } from './jobs.ts';
import { type ListAnswer, readPages } from './read-answers.ts';
import { listRepositories } from './repositories.ts';
import { createRunnerGroups, ensureRunnerGroup } from './runner-groups.ts';
import { createJitConfig, listRunners } from './runners.ts';
import { ACME, API, failureOf, jit, useSmallWorld } from './scenes/small-world.scene.ts';

const LIST = 'actions/list-self-hosted-runner-groups-for-org';
const CREATE = 'actions/create-self-hosted-runner-group-for-org';
const SETTINGS = {
  name: 'Paddock',
  visibility: 'private',
  allowsPublicRepositories: false,
} as const;

describe('runner groups (C7)', () => {
  const small = useSmallWorld();

  const ensure = (given: object = {}, onRefused?: Parameters<typeof ensureRunnerGroup>[3]) =>
    ensureRunnerGroup(small.client, 'acme', { ...SETTINGS, ...given }, onRefused);

  test('makes a missing group as the settings say, and uses an existing one as it is', async () => {
    const { id, access } = await ensure();
    expect(access).toMatchObject({
      visibility: 'private',
      allowsPublicRepositories: false,
      workflows: null,
      repositories: null,
    });
    expect(id).toBeGreaterThan(1);
    const other = { name: 'PADDOCK', visibility: 'all', allowsPublicRepositories: true };
    expect(await ensure(other)).toEqual({ id, access });
    expect(await small.calls()).toMatchObject({ [CREATE]: 1 });
  });

  const selected = { org: 'acme', visibility: 'selected' } as const;

  test('reads which repositories and workflows a group admits', async () => {
    await small.simulator.addRepository({ owner: 'acme', name: 'infra' });
    const workflows = ['acme/infra/.github/workflows/deploy.yaml@refs/heads/main'];
    const admitted = { repositories: ['acme/infra'], workflows };
    await small.simulator.setRunnerGroup({ ...selected, name: 'Infra', ...admitted });
    expect((await ensure({ name: 'infra' })).access).toMatchObject({
      visibility: 'selected',
      allowsPublicRepositories: false,
      ...admitted,
    });
  });

  test.each([403, 404])(
    'uses a group whose repositories GitHub does not show (%i), and they are unknown',
    async (status) => {
      await small.simulator.setRunnerGroup({ ...selected, name: 'Hidden', repositories: [] });
      const { id } = await ensure({ name: 'Hidden' });
      await small.simulator.failNext({ path: 'runner-groups/[0-9]+/repositories$', status });
      const refused: string[] = [];
      const hidden = await ensure({ name: 'Hidden' }, (_org, name) => void refused.push(name));
      expect(hidden).toMatchObject({ id, access: { visibility: 'selected', repositories: null } });
      expect(refused).toEqual([]);
    },
  );

  test('takes "Default" as group 1, without a call', async () => {
    expect(await ensure({ name: 'Default' })).toEqual({ id: 1, access: undefined });
    expect(await small.calls()).toEqual({});
  });

  test('uses the default group where the plan has none, and reports that once', async () => {
    const { appId } = small.world;
    const organization = { login: 'small', runnerGroups: false };
    const { id: entityId } = await small.simulator.addOrganization(organization);
    const { id: installationId } = await small.simulator.install({ appId, account: 'small' });
    const told: string[] = [];
    const groups = createRunnerGroups({
      lifetimeMs: 60_000,
      onRefused: (org, name, { kind }) => void told.push(`${org} ${name} ${kind}`),
    });
    const client = small.github.asInstallation({ appId, installationId, entityId });
    for (let n = 0; n < 3; n += 1)
      expect(await groups.ensure(client, 'small', SETTINGS)).toEqual({ id: 1, access: undefined });
    expect(told).toEqual([`small ${SETTINGS.name} forbidden`]);
  });

  test('does not take an exhausted budget for a missing plan', async () => {
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '4000000000' };
    await small.simulator.failNext({ path: 'runner-groups$', status: 403, headers });
    expect(await failureOf(ensure())).toMatchObject({ kind: 'rate_limited' });
  });

  test('gives two replicas that make it at once the same group', async () => {
    const taken = { method: 'POST', status: 409, afterCommit: true } as const;
    await small.simulator.failNext({ ...taken, path: 'runner-groups$' });
    expect(await ensure()).toEqual(await ensure());
  });

  test('asks for a group once within its lifetime, also for simultaneous callers', async () => {
    let now = 0;
    const groups = createRunnerGroups({ lifetimeMs: 1000, now: () => now });
    const ids = await Promise.all(
      Array.from({ length: 5 }, () => groups.ensure(small.client, 'acme', SETTINGS)),
    );
    expect(new Set(ids.map(({ id }) => id)).size).toBe(1);
    now = 999;
    await groups.ensure(small.client, 'ACME', SETTINGS);
    expect(await small.calls()).toMatchObject({ [LIST]: 1, [CREATE]: 1 });
    now = 1000;
    await groups.ensure(small.client, 'acme', SETTINGS);
    groups.forget('Acme');
    await groups.ensure(small.client, 'acme', SETTINGS);
    expect(await small.calls()).toMatchObject({ [LIST]: 3, [CREATE]: 1 });
  });

  test('does not remember a failure', async () => {
    const groups = createRunnerGroups({ lifetimeMs: 1000, now: () => 0 });
    await small.simulator.failNext({ path: 'runner-groups$', status: 502 });
    const failure = await failureOf(groups.ensure(small.client, 'acme', SETTINGS));
    expect(failure).toMatchObject({ kind: 'unavailable' });
    expect((await groups.ensure(small.client, 'acme', SETTINGS)).id).toBeGreaterThan(1);
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
    ['a Link', 150, (_, page) => ({ link: page === 1 ? next : '<x>; rel="prev"', total: 150 }), 2],
    ['the total without a Link', 250, () => ({ link: undefined, total: 250 }), 3],
    ['the total that a page reaches', 100, () => ({ link: undefined, total: 100 }), 1],
    ['a full page without both', 100, () => ({ link: undefined }), 2],
    ['a page that is not full without both', 99, () => ({ link: undefined }), 1],
    ['the total of a Link without an end', 100, () => ({ link: next, total: 100 }), 2],
  ])('follows %s', async (_name, count, tell, pages) => {
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
  const small = useSmallWorld(undefined, () => ({ fetch: withoutLink }));

  test('gives a run’s jobs, and runs, from all pages', async () => {
    const { runId } = await small.queue();
    await small.queueMany(100, { runId });
    expect(await listRunJobs(small.client, API, runId)).toHaveLength(101);
    await small.queueMany(100);
    expect(await listRuns(small.client, API, { status: 'queued' })).toMatchObject({
      items: { length: 101 },
    });
  });

  test('gives runners, repositories and installations from all pages', async () => {
    for (let n = 0; n < 101; n += 1) {
      await createJitConfig(small.client, ACME, jit(`worker-${n}`));
      await small.simulator.addRepository({ owner: 'acme', name: `part-${n}` });
      await small.simulator.addUser({ login: `user-${n}` });
      const account = { appId: small.world.appId, account: `user-${n}` };
      await small.simulator.install({ ...account, announce: false });
    }
    expect(await listRunners(small.client, ACME)).toHaveLength(101);
    expect((await listRepositories(small.client)).length).toBeGreaterThan(101);
    const known = await listInstallations(small.app);
    expect(known.length).toBeGreaterThan(101);
    const nameless = small.connect({
      async fetch(...given) {
        const answer = await withoutLink(...given);
        return new Response(
          (await answer.text()).replace('"login":"acme"', '"login":null'),
          answer,
        );
      },
    });
    // One that cannot be read hides no further page.
    const others = await listInstallations(nameless.asApp(small.world.appId));
    expect(others).toHaveLength(known.length - 1);
  });

  test('says of a full page of deliveries that it may be cut off, and not of another page', async () => {
    await small.simulator.setDeliveryFaults({ lossRate: 1 });
    await small.queueMany(99);
    expect(await listDeliveries(small.app)).toMatchObject({ isCutOff: false });
    await small.queueMany(21);
    expect(await listDeliveries(small.app)).toMatchObject({
      deliveries: { length: 100 },
      isCutOff: true,
    });
    const whole = small.connect({ fetch: globalThis.fetch }).asApp(small.world.appId);
    expect(await listDeliveries(whole)).toMatchObject({
      isCutOff: false,
      nextCursor: expect.any(String),
    });
  });
});
