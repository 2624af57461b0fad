import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startSmallWorld, type SmallWorld } from '@paddock/simulators/scenes/small-world.scene';
import type { GitHub, InstallationClient } from './connect.ts';
import { classifyGitHubError } from './errors.ts';
import { createRunnerGroups, ensureRunnerGroup } from './runner-groups.ts';
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
    const route = 'GET /orgs/{org}/actions/runner-groups/{runner_group_id}';
    const { data } = await client.octokit.request(route, { org: 'acme', runner_group_id: id });
    expect(data).toMatchObject({
      name: 'Paddock',
      visibility: 'private',
      allows_public_repositories: false,
    });
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
