import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { startSmallWorld, type SmallWorld } from '@paddock/simulators/scenes/small-world.scene';
import type { GitHub } from './connect.ts';
import { answersProbe } from './probe.ts';
import { connectSmallWorld } from './scenes/connect-small-world.scene.ts';

let world: SmallWorld;
let github: GitHub;
beforeAll(async () => {
  world = await startSmallWorld();
  github = connectSmallWorld(world);
});
afterEach(() => world.github.clearFaults());
afterAll(() => world.github.stop());

const left = () => github.budgetOf(world.organization.installationId)?.remaining;
const probe = (signal?: AbortSignal) => {
  const options = signal === undefined ? {} : { signal };
  return answersProbe(github.asInstallation(world.organization, options));
};

describe('a probe of GitHub (C11)', () => {
  test('is answered where GitHub answers, and counts against no limit', async () => {
    expect(await probe()).toBe(true);
    const before = left();
    expect(await probe()).toBe(true);
    expect(left()).toBe(before);
  });

  test.each([401, 403, 404, 422])('is answered with %i as well', async (status) => {
    await world.github.failNext({ path: '^/rate_limit$', status });
    expect(await probe()).toBe(true);
  });

  test('is answered to an App that speaks for itself, even if GitHub refuses the question', async () => {
    expect(await answersProbe(github.asApp(world.appId))).toBe(true);
  });

  test.each([500, 502, 503, undefined])('is not answered with %p', async (status) => {
    await world.github.failNext({ path: '^/rate_limit$', status });
    expect(await probe()).toBe(false);
  });

  test('is not answered by a server that stays silent until the caller leaves', async () => {
    await world.github.failNext({ path: '^/rate_limit$', hang: true });
    expect(await probe(AbortSignal.timeout(50))).toBe(false);
  });
});
