import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { startSmallWorld, type SmallWorld } from '@paddock/simulators/scenes/small-world.scene';
import type { GitHub } from './connect.ts';
import { probeGitHub } from './probe.ts';
import { connectSmallWorld } from './scenes/connect-small-world.scene.ts';
import type { Waits } from './waits.ts';

let world: SmallWorld;
let github: GitHub;
beforeAll(async () => {
  world = await startSmallWorld();
  github = connectSmallWorld(world);
});
afterEach(() => world.github.clearFaults());
afterAll(() => world.github.stop());

const probe = (signal = new AbortController().signal) => probeGitHub(github, signal);

describe('a probe of GitHub (C11)', () => {
  test('is answered where GitHub answers, and asks about nobody’s installation', async () => {
    expect(await probe()).toBeUndefined();
    const { calls } = await world.github.report();
    expect(calls).toEqual({ 'rate-limit/get': 1 });
  });

  test.each([401, 403, 404, 422, 429])('is answered with %i as well', async (status) => {
    await world.github.failNext({ path: '^/rate_limit$', status });
    expect(await probe()).toBeUndefined();
  });

  test.each([407, 500, 502, 503, undefined])('is not answered with %p', async (status) => {
    await world.github.failNext({ path: '^/rate_limit$', status });
    expect(await probe()).toEqual(expect.any(String));
  });

  test('is not answered by a server that stays silent until the caller leaves', async () => {
    await world.github.failNext({ path: '^/rate_limit$', hang: true });
    expect(await probe(AbortSignal.timeout(50))).toEqual(expect.any(String));
  });

  test('asks as another App where one has to wait, and cannot ask where all have to', async () => {
    const waiting = new Set([world.appId]);
    const patient = (appIds: readonly number[]) => ({
      appIds,
      asApp: (appId: number) =>
        waiting.has(appId)
          ? connectSmallWorld(world, { waits: WAITING }).asApp(world.appId)
          : github.asApp(world.appId),
    });
    const { signal } = new AbortController();
    expect(await probeGitHub(patient([world.appId, 2]), signal)).toBeUndefined();
    await expect(probeGitHub(patient([world.appId]), signal)).rejects.toThrow('slow down');
  });
});

const WAITING: Waits = {
  left: () => Promise.resolve({ ms: 60_000, message: 'slow down' }),
  note: () => Promise.resolve(),
};
