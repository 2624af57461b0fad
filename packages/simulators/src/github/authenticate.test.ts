import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type SmallWorld, startSmallWorld } from '../scenes/small-world.scene.ts';
import { appAuthorization, callApi, installationAuthorization } from '../scenes/call-api.scene.ts';

describe('who may call the simulated GitHub', () => {
  let world: SmallWorld;
  let now: number;
  let acme: string;
  beforeEach(async () => {
    now = Date.now();
    world = await startSmallWorld({ now: () => now });
    acme = await installationAuthorization(world);
  });
  afterEach(() => world.github.stop());

  const statusOf = async (path: string, authorization?: string) =>
    (await callApi(world, 'GET', path, authorization === undefined ? {} : { authorization }))
      .status;
  const seconds = () => Math.floor(now / 1000);

  test.each([
    ['expired', () => ({ iat: seconds() - 600, exp: seconds() - 1 })],
    ['valid for longer than ten minutes', () => ({ exp: seconds() + 700 })],
  ])('refuses an App with a token %s', async (_what, claims) => {
    expect(await statusOf('/app', await appAuthorization(world, claims()))).toBe(401);
  });

  const RUNNERS = '/orgs/acme/actions/runners';
  const call = (path: string, authorization: string) =>
    callApi(world, 'GET', path, { authorization });
  const against = async () => (await world.github.report()).callsAgainstWait;

  /** An answer to one call of the account that asks it to wait. */
  const tell = async (headers: Record<string, string>, status = 429) => {
    await world.github.failNext({ path: '', status, headers });
    await call(RUNNERS, acme);
  };

  test('counts calls of any kind after a Retry-After, until the wait is over', async () => {
    await tell({ 'retry-after': '10' });
    now += 1_000;
    await call(RUNNERS, acme);
    await call('/installation/repositories', acme);
    const late = `by installation ${world.organization.installationId}, 1000 ms late`;
    expect(await world.github.report()).toMatchObject({
      callsAgainstWait: 2,
      firstAgainstWait: [
        `actions/list-self-hosted-runners-for-org ${late}`,
        `apps/list-repos-accessible-to-installation ${late}`,
      ],
    });
    now += 9_000;
    await call(RUNNERS, acme);
    expect(await against()).toBe(2);
  });

  test('counts calls against a used-up budget, and no others', async () => {
    const caller = { installationId: world.organization.installationId };
    await world.github.setRateLimit({ caller, resource: 'core', remaining: 1, resetInMs: 60_000 });
    await call(RUNNERS, acme);
    now += 1_000;
    const given = { authorization: acme, body: {} };
    await callApi(world, 'POST', `${RUNNERS}/generate-jitconfig`, given);
    expect(await against()).toBe(0);
    await call(RUNNERS, acme);
    expect(await against()).toBe(1);
  });
});
