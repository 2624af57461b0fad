import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { appAuthorization, callApi, installationAuthorization } from './call-api.ts';
import { startSmallWorld, type SmallWorld } from '../scenes/small-world.scene.ts';

let world: SmallWorld;
let now: number;
let acme: string;
let app: string;
beforeEach(async () => {
  now = Date.now();
  world = await startSmallWorld({ now: () => now });
  acme = await installationAuthorization(world);
  app = await appAuthorization(world);
});
afterEach(() => world.github.stop());

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
  expect(await world.github.report()).toMatchObject({
    callsAgainstWait: 2,
    firstAgainstWait: [
      `actions/list-self-hosted-runners-for-org by installation ${world.organization.installationId}, 1000 ms late`,
      `apps/list-repos-accessible-to-installation by installation ${world.organization.installationId}, 1000 ms late`,
    ],
  });
  now += 9_000;
  await call(RUNNERS, acme);
  expect(await against()).toBe(2);
});

test('does not count calls of other accounts and of the App', async () => {
  const mona = await installationAuthorization(world, world.user.installationId);
  await tell({ 'retry-after': '10' }, 503);
  now += 1_000;
  await call('/installation/repositories', mona);
  await call('/app', app);
  expect(await against()).toBe(0);
});

test('does not count calls that were made while the answer was under way', async () => {
  await tell({ 'retry-after': '10' });
  now += 100;
  await call(RUNNERS, acme);
  expect(await against()).toBe(0);
});

test('counts calls against a used-up budget, and no others', async () => {
  const caller = { installationId: world.organization.installationId };
  await world.github.setRateLimit({ caller, resource: 'core', remaining: 1, resetInMs: 60_000 });
  await call(RUNNERS, acme);
  now += 1_000;
  await callApi(world, 'POST', `${RUNNERS}/generate-jitconfig`, { authorization: acme, body: {} });
  expect(await against()).toBe(0);
  await call(RUNNERS, acme);
  expect(await against()).toBe(1);
});
