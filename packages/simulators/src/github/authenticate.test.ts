import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createAppKey } from './app-key.ts';
import { appAuthorization, callApi, installationAuthorization } from './call-api.ts';
import { startSmallWorld, type SmallWorld } from '../scenes/small-world.scene.ts';

describe('who may call the simulated GitHub', () => {
  let world: SmallWorld;
  let now: number;
  beforeEach(async () => {
    now = Date.now();
    world = await startSmallWorld({ now: () => now });
  });
  afterEach(() => world.github.stop());

  const statusOf = async (path: string, authorization?: string) =>
    (await callApi(world, 'GET', path, authorization === undefined ? {} : { authorization }))
      .status;
  const seconds = () => Math.floor(now / 1000);

  test('accepts an App with a fresh token of its key', async () => {
    expect(await statusOf('/app', await appAuthorization(world))).toBe(200);
  });

  test.each([
    ['expired', () => ({ iat: seconds() - 600, exp: seconds() - 1 })],
    ['valid for longer than ten minutes', () => ({ exp: seconds() + 700 })],
    ['from the future', () => ({ iat: seconds() + 120 })],
    ['of an unknown App', () => ({ iss: '999' })],
  ])('refuses an App with a token %s', async (_what, claims) => {
    expect(await statusOf('/app', await appAuthorization(world, claims()))).toBe(401);
  });

  test('refuses an App with another key, without a token, or with an installation’s token', async () => {
    expect(
      await statusOf('/app', await appAuthorization(world, {}, createAppKey().privateKeyPem)),
    ).toBe(401);
    expect(await statusOf('/app')).toBe(401);
    expect(await statusOf('/app', 'Bearer nonsense')).toBe(401);
    expect(await statusOf('/app', await installationAuthorization(world))).toBe(401);
  });

  test('accepts an installation for an hour', async () => {
    const authorization = await installationAuthorization(world);
    expect(authorization.length).toBeGreaterThan(300);
    expect(await statusOf('/orgs/acme/actions/runners', authorization)).toBe(200);
    now += 3_600_000;
    expect(await statusOf('/orgs/acme/actions/runners', authorization)).toBe(401);
  });

  test('refuses an installation that is removed or suspended', async () => {
    const authorization = await installationAuthorization(world);
    await world.github.suspend(world.organization.installationId);
    expect(await statusOf('/orgs/acme/actions/runners', authorization)).toBe(403);
    await world.github.unsuspend(world.organization.installationId);
    expect(await statusOf('/orgs/acme/actions/runners', authorization)).toBe(200);
    await world.github.uninstall(world.organization.installationId);
    expect(await statusOf('/orgs/acme/actions/runners', authorization)).toBe(401);
  });

  test('accepts an installation only within its repositories', async () => {
    const authorization = await installationAuthorization(world, world.user.installationId);
    expect(await statusOf('/repos/mona/tool/actions/runners', authorization)).toBe(200);
    expect(await statusOf('/repos/acme/api/actions/runners', authorization)).toBe(404);
    expect(await statusOf('/orgs/acme/actions/runners', authorization)).toBe(404);
    expect(await statusOf('/nothing/here', authorization)).toBe(404);
  });

  test('accepts calls as long as the budget lasts', async () => {
    const authorization = await installationAuthorization(world);
    const caller = { installationId: world.organization.installationId };
    await world.github.setRateLimit({ caller, resource: 'core', remaining: 1 });
    expect(await statusOf('/orgs/acme/actions/runners', authorization)).toBe(200);
    expect(await statusOf('/orgs/acme/actions/runners', authorization)).toBe(403);
    now += 3_600_000 - 1;
    const renewed = await installationAuthorization(world, caller.installationId, {
      iat: seconds(),
      exp: seconds() + 500,
    });
    now += 1;
    expect(await statusOf('/orgs/acme/actions/runners', renewed)).toBe(200);
  });

  test('makes exactly the matching call fail', async () => {
    const authorization = await appAuthorization(world);
    await world.github.failNext({ method: 'GET', path: '^/app$', status: 502, after: 1, times: 2 });
    const statuses: number[] = [];
    for (let n = 0; n < 4; n += 1) statuses.push(await statusOf('/app', authorization));
    expect(statuses).toEqual([200, 502, 502, 200]);
    await world.github.failNext({ path: '^/app$', status: 500 });
    await world.github.clearFaults();
    expect(await statusOf('/api/v3/app', authorization)).toBe(200);
  });
});
