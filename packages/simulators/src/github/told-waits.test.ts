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

/** An answer to one call of the account that tells it to wait. */
const tell = async (headers: Record<string, string>, status = 429) => {
  await world.github.failNext({ path: '', status, headers });
  await call(RUNNERS, acme);
};

test('calls after a Retry-After count, whatever they ask for, until it is over', async () => {
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

test('those of other accounts and of the App do not', async () => {
  const mona = await installationAuthorization(world, world.user.installationId);
  await tell({ 'retry-after': '10' }, 503);
  now += 1_000;
  await call('/installation/repositories', mona);
  await call('/app', app);
  expect(await against()).toBe(0);
});

test('nor those that are made while the answer is on its way', async () => {
  await tell({ 'retry-after': '10' });
  now += 100;
  await call(RUNNERS, acme);
  expect(await against()).toBe(0);
});

test('calls against a budget that is used up count, and others do not', async () => {
  const caller = { installationId: world.organization.installationId };
  await world.github.setRateLimit({ caller, resource: 'core', remaining: 1, resetInMs: 60_000 });
  await call(RUNNERS, acme);
  now += 1_000;
  await callApi(world, 'POST', `${RUNNERS}/generate-jitconfig`, { authorization: acme, body: {} });
  expect(await against()).toBe(0);
  await call(RUNNERS, acme);
  expect(await against()).toBe(1);
});
