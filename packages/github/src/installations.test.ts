import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startSmallWorld, type SmallWorld } from '@paddock/simulators/scenes/small-world.scene';
import type { AppClient } from './connect.ts';
import { classifyGitHubError } from './errors.ts';
import { findInstallation, getApp, listInstallations } from './installations.ts';
import { connectSmallWorld } from './scenes/connect-small-world.scene.ts';

describe('installations (A12)', () => {
  let world: SmallWorld;
  let client: AppClient;
  beforeEach(async () => {
    world = await startSmallWorld();
    client = connectSmallWorld(world).asApp(world.appId);
  });
  afterEach(() => world.github.stop());

  test('are found by id, by organisation, and by repository', async () => {
    const { organization, user, appId } = world;
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
    expect(await findInstallation(client, { organization: 'acme' })).toEqual(onAcme);
    expect(await findInstallation(client, { repository: { owner: 'acme', repo: 'api' } })).toEqual(
      onAcme,
    );
    expect(
      await findInstallation(client, { repository: { owner: 'mona', repo: 'tool' } }),
    ).toMatchObject({
      id: user.installationId,
      entityType: 'User',
    });
  });

  test('are undefined when gone, and not when GitHub fails', async () => {
    await world.github.uninstall(world.organization.installationId);
    expect(
      await findInstallation(client, { id: world.organization.installationId }),
    ).toBeUndefined();
    expect(await findInstallation(client, { organization: 'acme' })).toBeUndefined();
    expect(
      await findInstallation(client, { repository: { owner: 'acme', repo: 'api' } }),
    ).toBeUndefined();
    await world.github.failNext({ path: '/orgs/acme/installation', status: 500 });
    expect(
      await findInstallation(client, { organization: 'acme' }).catch(classifyGitHubError),
    ).toMatchObject({ kind: 'unavailable' });
  });

  test('show an entity’s new login and its unchanged id', async () => {
    await world.github.renameAccount('acme', 'acme-corp');
    expect(await findInstallation(client, { id: world.organization.installationId })).toMatchObject(
      {
        login: 'acme-corp',
        entityId: world.organization.id,
      },
    );
  });

  test('show a reinstallation under its new id', async () => {
    await world.github.uninstall(world.organization.installationId);
    const { id } = await world.github.install({
      appId: world.appId,
      account: 'acme',
      repositories: ['acme/api'],
    });
    expect(await findInstallation(client, { organization: 'acme' })).toMatchObject({
      id,
      selection: 'selected',
    });
    expect(
      await findInstallation(client, { repository: { owner: 'acme', repo: 'site' } }),
    ).toBeUndefined();
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
      id: world.appId,
      name: `paddock-${world.appId}`,
      permissions: { metadata: 'read' },
      events: [],
    });
  });
});
