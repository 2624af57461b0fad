import { type Given, githubIsAway, passOf } from '../scenes/pass.scene.ts';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { examplePools, putPools } from '@paddock/testing/demand-rows';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { checkApps, type CheckAppsOptions } from './check-apps.ts';
import { useJobsScene } from '../scenes/jobs.scene.ts';

const database = useTestDatabase();
const scene = useJobsScene(database);
let told: string[];

beforeEach(() => {
  told = [];
});

const check = async ({ pass = {}, ...more }: Given<CheckAppsOptions> = {}) =>
  checkApps(
    {
      db: database.dbOf('reconciler'),
      github: scene.github,
      events: {
        appChecked: (_appId, problems) => void told.push(...problems),
        appNotChecked: (_appId, { kind }) => void told.push(kind),
        tooManyUnlisted: (_appId, count) => void told.push(`${count} unlisted`),
      },
      goneAtMost: 20,
      ...more,
    },
    await passOf(database.dbOf('reconciler'), {
      isAway: githubIsAway(scene.github),
      ...pass,
    }),
  );
const rows = () =>
  database.db
    .selectFrom('installations')
    .select([
      'login',
      'installation_id',
      'entity_type',
      'repository_selection',
      'suspended_at',
      'deleted_at',
    ])
    .orderBy('login')
    .execute();
const well = { apps: 1, unanswered: 0, problems: [] };

describe('the rights of an App (H4)', () => {
  test('that has all it needs: nothing is said', async () => {
    expect(await check()).toMatchObject(well);
    expect(told).toEqual([]);
  });

  test('without its subscription and a permission: both are said, in the output too', async () => {
    const { appId } = scene.world;
    await scene.world.github.setApp(appId, {
      events: ['push'],
      permissions: { actions: 'read', administration: 'write' },
    });
    const { problems } = await check();
    expect(problems).toEqual([
      expect.stringContaining('workflow_job'),
      expect.stringContaining('organization_self_hosted_runners'),
    ]);
    expect(problems[0]).toContain(`App ${appId}: `);
    expect(told).toHaveLength(2);
  });

  test('without the one that an organisation’s pool needs which registers at repositories', async () => {
    const { appId, user } = scene.world;
    await scene.world.github.uninstall(user.installationId);
    await scene.world.github.setApp(appId, {
      permissions: {
        actions: 'read',
        organization_self_hosted_runners: 'write',
        administration: 'read',
      },
    });
    expect((await check()).problems).toEqual([]);
    await putPools(
      database.db,
      examplePools({
        pools: [{}, { name: 'apart', labels: ['apart'], registration: 'repository' }],
      }),
    );
    expect((await check()).problems).toEqual([expect.stringContaining('administration: write')]);
  });

  test('that GitHub asks to wait: it is checked again when GitHub names, and nothing is said of each call', async () => {
    await scene.world.github.failNext({
      path: '^/app$',
      status: 429,
      headers: { 'retry-after': '600' },
    });
    expect(await check()).toMatchObject({ apps: 0, unanswered: 1, waitMs: 600_000 });
    const { waitMs } = await check();
    expect(waitMs).toBeGreaterThan(500_000);
    expect(waitMs).toBeLessThanOrEqual(600_000);
    expect([told, (await scene.world.github.report()).callsAgainstWait]).toEqual([[], 0]);
  });

  test('that GitHub refuses: written down, and the other Apps are checked (C9)', async () => {
    await scene.world.github.failNext({ path: '/app$', status: 401 });
    const { appId } = scene.world;
    expect(await check({ github: { ...scene.github, appIds: [appId, appId] } })).toMatchObject({
      apps: 1,
      unanswered: 1,
    });
    expect(told).toEqual(['unauthorized']);
    expect(await scene.events()).toContainEqual({
      event: 'auth_attempt.other_error',
      outcome: 'auth_other_error',
      job_id: null,
    });
  });
});

describe('what our rows say of installations (A12)', () => {
  test('is brought to what GitHub lists: unknown, renamed, suspended, selected ones; once, with an event each', async () => {
    const { organization, user } = scene.world;
    expect(await check()).toMatchObject({ ...well, installations: 2, repaired: 2, gone: 0 });
    expect(await rows()).toEqual([
      expect.objectContaining({
        login: 'acme',
        installation_id: organization.installationId,
        entity_type: 'Organization',
        repository_selection: 'all',
      }),
      expect.objectContaining({
        login: 'mona',
        installation_id: user.installationId,
        entity_type: 'User',
        suspended_at: null,
      }),
    ]);
    expect(await check()).toMatchObject({ repaired: 0 });
    await scene.world.github.renameAccount('mona', 'mona-lisa');
    await scene.world.github.suspend(user.installationId);
    await scene.world.github.selectRepositories(organization.installationId, ['acme/api']);
    expect(await check()).toMatchObject({ repaired: 2 });
    expect(await rows()).toEqual([
      expect.objectContaining({ login: 'acme', repository_selection: 'selected' }),
      expect.objectContaining({ login: 'mona-lisa', suspended_at: expect.any(Date) }),
    ]);
    await scene.world.github.unsuspend(user.installationId);
    expect(await check()).toMatchObject({ repaired: 1 });
    expect((await rows())[1]).toMatchObject({ suspended_at: null });
    expect((await scene.events()).map(({ event }) => event)).toEqual(
      Array.from({ length: 5 }, () => 'discovered.installed'),
    );
  });

  test('an installation that is gone is asked about by its id; installed anew, it has another one', async () => {
    await check();
    const { organization, appId } = scene.world;
    await scene.world.github.uninstall(organization.installationId);
    expect(await check()).toMatchObject({ repaired: 0, gone: 1 });
    expect((await rows())[0]).toMatchObject({ login: 'acme', deleted_at: expect.any(Date) });
    expect(await check()).toMatchObject({ repaired: 0, gone: 0 });
    const { id } = await scene.world.github.install({ appId, account: 'acme', announce: false });
    expect(await check()).toMatchObject({ repaired: 1 });
    expect((await rows())[0]).toMatchObject({ installation_id: id, deleted_at: null });
  });

  test('a list that is empty by mistake ends nothing: GitHub still knows each by its id', async () => {
    await check();
    const before = await rows();
    await scene.world.github.failNext({ path: '/app/installations$', status: 200, body: [] });
    expect(await check()).toMatchObject({ installations: 0, gone: 0 });
    expect(await rows()).toEqual(before);
  });

  test('a list that lacks more than the cap is not believed at all', async () => {
    await check();
    const before = await rows();
    for (const { installationId } of [scene.world.organization, scene.world.user])
      await scene.world.github.uninstall(installationId);
    expect(await check({ goneAtMost: 1 })).toMatchObject({ gone: 0 });
    expect(told).toEqual(['2 unlisted']);
    expect(await rows()).toEqual(before);
  });

  test.each([0, 1, 2])('when call %d fails, the next pass says the same', async (after) => {
    await check();
    await scene.world.github.uninstall(scene.world.organization.installationId);
    await scene.world.github.failNext({ path: '/app', status: 502, after });
    expect(await check()).toMatchObject({ unanswered: 1 });
    expect((await rows())[0]).toMatchObject({ deleted_at: null });
    expect(await check()).toMatchObject({ unanswered: 0, gone: 1 });
  });
});
