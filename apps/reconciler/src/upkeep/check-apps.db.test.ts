import { installationOf } from '@paddock/simulators/scenes/small-world.scene';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { putPools } from '@paddock/testing/demand-rows';
import { describe, expect, test } from '@jest/globals';
import { useJobsScene } from '../scenes/jobs.scene.ts';
import { type Given, outputOf } from '../scenes/sweep.scene.ts';
import { checkApps } from './check-apps.ts';

const database = useTestDatabase();
const scene = useJobsScene(database);

const check = async (given?: Given) => outputOf(await scene.run(checkApps, given));
const problems = async () => (await check())['problems'];
const rows = async () => {
  const found = database.db.selectFrom('installations').selectAll().orderBy('login');
  return (await found.execute()).map(
    ({ stated_at: _statedAt, updated_at: _updatedAt, ...row }) => row,
  );
};
const well = { apps: 1, unanswered: 0, problems: [] };

describe('the rights of an App (H4)', () => {
  test('without its subscription and a permission: both are in the output', async () => {
    expect(await check()).toMatchObject(well);
    const { appId } = scene.world;
    const permissions = { actions: 'read', administration: 'write' };
    await scene.world.github.setApp(appId, { events: ['push'], permissions });
    expect(await problems()).toEqual([
      expect.stringMatching(new RegExp(`^App ${appId}: .*workflow_job`)),
      expect.stringContaining('organization_self_hosted_runners'),
    ]);
  });

  test('without the one that an organisation’s pool needs which registers at repositories', async () => {
    const { appId, user } = scene.world;
    await scene.world.github.uninstall(user.installationId);
    const read = { actions: 'read', administration: 'read' };
    const permissions = { ...read, organization_self_hosted_runners: 'write' };
    await scene.world.github.setApp(appId, { permissions });
    expect(await problems()).toEqual([]);
    const registration = 'repository' as const;
    const apart = { name: 'apart', labels: ['apart'], registration };
    await putPools(database.db, { pools: [{}, apart] });
    expect(await problems()).toEqual([expect.stringContaining('administration: write')]);
  });

  test('that GitHub asks to wait: it is checked again when GitHub names, and nothing is said of each call', async () => {
    const headers = { 'retry-after': '600' };
    await scene.world.github.failNext({ path: '^/app$', status: 429, headers });
    for (let time = 0; time < 2; time++) {
      const outcome = await scene.run(checkApps);
      expect(outcome).toMatchObject({ output: { apps: 0, unanswered: 1 } });
      const [again] = 'followOn' in outcome ? (outcome.followOn ?? []) : [];
      expect(again).toMatchObject({ kind: 'check-apps' });
      expect(Math.round((again?.dueInMs ?? 0) / 60_000)).toBe(10);
    }
    expect(scene.told('appNotChecked')).toEqual([]);
    expect((await scene.world.github.report()).callsAgainstWait).toBe(0);
  });

  test('that GitHub refuses: written down, and the other Apps are checked (C9)', async () => {
    await scene.world.github.failNext({ path: '/app$', status: 401 });
    const { appId } = scene.world;
    expect(await check({ appIds: [appId, appId] })).toMatchObject({ apps: 1, unanswered: 1 });
    expect(scene.told('appNotChecked')).toMatchObject([[appId, { kind: 'unauthorized' }]]);
    const event = 'auth_attempt.other_error';
    const refused = { event, outcome: 'auth_other_error', job_id: null };
    expect(await scene.events()).toContainEqual(refused);
  });
});

describe('what our rows say of installations (A12)', () => {
  test('is brought to what GitHub lists: unknown, renamed, suspended, selected ones; once, with an event each', async () => {
    const { organization, user } = scene.world;
    expect(await check()).toMatchObject({ ...well, installations: 2, repaired: 2, gone: 0 });
    expect(await rows()).toMatchObject([
      { ...installationOf(organization), entity_type: 'Organization' },
      { ...installationOf(user), entity_type: 'User' },
    ]);
    expect(await check()).toMatchObject({ repaired: 0 });
    await scene.world.github.renameAccount('mona', 'mona-lisa');
    await scene.world.github.suspend(user.installationId);
    await scene.world.github.selectRepositories(organization.installationId, ['acme/api']);
    expect(await check()).toMatchObject({ repaired: 2 });
    expect(await rows()).toMatchObject([
      { login: 'acme', repository_selection: 'selected' },
      { login: 'mona-lisa', suspended_at: expect.any(Date) },
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

  test('an installation that GitHub did not know for a moment is there again once it is listed', async () => {
    await check();
    const { github, organization } = scene.world;
    await github.failNext({ path: '/app/installations$', status: 200, body: [] });
    const path = `/app/installations/${organization.installationId}$`;
    await github.failNext({ path, status: 404 });
    expect(await check()).toMatchObject({ gone: 1 });
    expect(await check()).toMatchObject({ repaired: 1 });
    expect((await rows())[0]).toMatchObject({ login: 'acme', deleted_at: null });
    expect(await check()).toMatchObject({ repaired: 0 });
  });

  test('is not ended by a list that is empty by mistake, nor by one that lacks more than the cap', async () => {
    await check();
    const before = await rows();
    await scene.world.github.failNext({ path: '/app/installations$', status: 200, body: [] });
    expect(await check()).toMatchObject({ installations: 0, gone: 0 });
    for (const { installationId } of [scene.world.organization, scene.world.user])
      await scene.world.github.uninstall(installationId);
    expect(await check({ config: { installationsGoneAtMost: 1 } })).toMatchObject({ gone: 0 });
    expect(scene.told('tooManyUnlisted')).toEqual([[scene.world.appId, 2]]);
    expect(await rows()).toEqual(before);
  });

  test.each([{ account: null }, { id: 2 ** 64 }, { suspended_at: 'soon' }])(
    'one that GitHub lists with %j stays as it is, and others are repaired (P6)',
    async (odd) => {
      const { appId, organization, user } = scene.world;
      const listed = [organization, user].map(({ installationId: id, ...account }) => ({
        id,
        account,
        app_id: appId,
        target_type: 'Organization',
        suspended_at: null,
        repository_selection: 'all',
        permissions: {},
        html_url: '',
      }));
      const body = [{ ...listed[0], ...odd }, listed[1]];
      await scene.world.github.failNext({ path: '/app/installations$', status: 200, body });
      expect(await check()).toMatchObject({ apps: 1, repaired: 1 });
      expect(await rows()).toMatchObject([{ login: 'mona' }]);
    },
  );

  test.each([0, 1, 2, 3])('when call %d fails, the next pass says the same', async (after) => {
    await check();
    await scene.world.github.uninstall(scene.world.organization.installationId);
    await scene.world.github.failNext({ path: '/app', status: 502, after });
    expect(await check()).toMatchObject({ unanswered: 1 });
    expect((await rows())[0]).toMatchObject({ deleted_at: null });
    expect(await check()).toMatchObject({ unanswered: 0, gone: 1 });
  });
});
