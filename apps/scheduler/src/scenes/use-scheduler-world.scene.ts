import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { late } from '@paddock/testing/use-test-database';
import { look, type Seen } from './evidence.scene.ts';
import { type FollowedPods, followedPods } from './followed-pods.scene.ts';
import { type SchedulerWorld, startSchedulerWorld } from './scheduler.scene.ts';
import { type StalledRuns, startStalledRuns } from './stalled-run.scene.ts';
import { setStopScene, type StopScene } from './stop.scene.ts';

/** One world for the tests of a file; each of them begins with it reset. */
export function useSchedulerWorld(
  options: Parameters<typeof startSchedulerWorld>[0] = {},
): SchedulerWorld {
  let world: SchedulerWorld;
  beforeAll(async () => {
    world = await startSchedulerWorld(options);
  });
  afterAll(() => world.stop());
  beforeEach(() => world.reset());
  return late(() => world);
}

/** The pods of that world, as the cluster has them. */
export function useFollowedPods(world: SchedulerWorld): FollowedPods {
  let pods: FollowedPods;
  beforeAll(async () => {
    pods = await followedPods(world);
  });
  return late(() => pods);
}

/** Runs of executors in that world that stop at one of their calls. */
export function useStalledRuns(world: SchedulerWorld): StalledRuns {
  let runs: StalledRuns;
  beforeAll(async () => {
    runs = await startStalledRuns(world);
  });
  afterAll(() => runs.stop());
  return late(() => runs);
}

/** What each test makes in that world, from its begin on. */
export function useEvidence(world: SchedulerWorld): Seen {
  let seen: Seen;
  beforeEach(async () => {
    seen = await look(world);
  });
  return late(() => seen);
}

/** What tests about the ends of that world's workers do; no job outlasts its test. */
export function useStopScene(world: SchedulerWorld): StopScene {
  let scene: StopScene;
  beforeAll(async () => {
    scene = await setStopScene(world);
  });
  afterEach(async () => {
    world.kube.clearFaults();
    await world.gitHub.clearFaults();
    await scene.cancelAll();
  });
  return late(() => scene);
}
