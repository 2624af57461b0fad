import { describe, expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { useDiscoveryScene } from '../scenes/use-scenes.scene.ts';
import { resyncInstallation, type ResyncInstallationOptions } from './resync-installation.ts';

const DAY_MS = 86_400_000;

const database = useTestDatabase();
const scene = useDiscoveryScene(database);

const resync = (more: Partial<ResyncInstallationOptions> = {}, id?: number) =>
  resyncInstallation(
    {
      db: database.dbOf('reconciler'),
      github: scene.github,
      appIds: [scene.world.appId],
      activeMs: DAY_MS,
      most: 200,
      ...more,
    },
    id ?? scene.world.organization.installationId,
    new AbortController().signal,
  );
const noteRun = () =>
  database.db
    .insertInto('repositories')
    .values({
      repo_id: scene.world.repositories.api,
      entity_id: scene.world.organization.id,
      app_id: scene.world.appId,
      active_at: new Date(),
    })
    .execute();

describe('resync of an installation (E2, F5)', () => {
  test('is one of each repository that was pushed to lately, or of which we know a run', async () => {
    const all = await resync({ activeMs: 100_000 * DAY_MS });
    const none = await resync({ activeMs: 0 });
    await noteRun();
    const known = await resync({ activeMs: 60_000 });
    expect(all).toMatchObject({ fullNames: expect.arrayContaining(['acme/api']) });
    expect(none).toMatchObject({ active: 0, fullNames: [] });
    expect(known).toMatchObject({ fullNames: expect.arrayContaining(['acme/api']) });
  });

  test('is of so many at most', async () => {
    await noteRun();
    expect(await resync({ most: 0 })).toMatchObject({ fullNames: [] });
  });

  test.each(['the token', 'the list'])(
    'fails where %s cannot be had, and works when it runs again (D14)',
    async (what) => {
      const after = what === 'the token' ? 0 : 1;
      await scene.world.github.failNext({ path: '/', status: 502, after });
      await expect(resync()).rejects.toMatchObject({ status: 502 });
      expect(await resync()).toMatchObject({ repositories: expect.any(Number) });
    },
  );

  test('of an installation that no App of ours has is a sentence', async () => {
    expect(await resync({}, 7)).toContain('no App of ours has the installation 7');
    expect(await resync({ appIds: [1] })).toContain('no App of ours');
  });
});
