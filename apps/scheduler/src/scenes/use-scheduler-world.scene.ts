import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { late } from '@paddock/testing/use-test-database';
import { look } from './evidence.scene.ts';
import { followedPods } from './followed-pods.scene.ts';
import { type SchedulerWorld, startSchedulerWorld } from './scheduler.scene.ts';
import { startStalledRuns } from './stalled-run.scene.ts';
import { setStopScene } from './stop.scene.ts';

/** What `make` gives when the hook runs. */
function use<T extends object>(hook: typeof beforeAll, make: () => Promise<T>): T {
  let made: T;
  hook(async () => {
    made = await make();
  });
  return late(() => made);
}

/** One world for the tests of a file; each of them begins with it reset. */
export function useSchedulerWorld(
  options: Parameters<typeof startSchedulerWorld>[0] = {},
): SchedulerWorld {
  const world = use(beforeAll, () => startSchedulerWorld(options));
  afterAll(() => world.stop());
  beforeEach(() => world.reset());
  return world;
}

/** The pods of that world, as the cluster has them. */
export const useFollowedPods = (world: SchedulerWorld) => use(beforeAll, () => followedPods(world));

/** What each test makes in that world, from its begin on. */
export const useEvidence = (world: SchedulerWorld) => use(beforeEach, () => look(world));

/** Runs of executors in that world that stop at one of their calls. */
export function useStalledRuns(world: SchedulerWorld) {
  const runs = use(beforeAll, () => startStalledRuns(world));
  afterAll(() => runs.stop());
  return runs;
}

/** What tests about the ends of that world's workers do; no job outlasts its test. */
export function useStopScene(world: SchedulerWorld) {
  const scene = use(beforeAll, () => setStopScene(world));
  afterEach(async () => {
    world.kube.clearFaults();
    await world.gitHub.clearFaults();
    await world.cancelAll();
  });
  return scene;
}
