import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import { late } from '@paddock/testing/use-test-database';
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

/** The rows and objects made in a world since `look`, for tests that share one. */
async function look(world: SchedulerWorld) {
  const { creations, secretsLeft } = world.kube.report();
  const earlier = new Set([
    ...creations.map(({ name }) => name),
    ...secretsLeft,
    ...(await world.gitHub.truth()).runners.map(({ name }) => name),
  ]);
  const isNew = (name: string) => !earlier.has(name);

  const pods = () =>
    world.kube
      .report()
      .creations.map(({ name }) => name)
      .filter(isNew);
  const secrets = () => world.kube.report().secretsLeft.filter(isNew);
  const runners = async () =>
    (await world.gitHub.truth()).runners.map(({ name }) => name).filter(isNew);
  /** Those that are gone included. */
  const registrations = async () =>
    (await world.gitHub.truth()).registrations.filter(({ name }) => isNew(name));
  const failures = async () =>
    (await world.workers())
      .filter(({ status }) => status === 'failed')
      .map((worker) => worker.stop_reason);
  /** Those of the scheduler. */
  const tasks = () =>
    world.db.selectFrom('tasks').selectAll().where('kind', '<>', 'check-apps').execute();

  return {
    pods,
    secrets,
    runners,
    registrations,
    failures,
    tasks,
    /**
     * The end of everything: one live worker with its pod and its Secret for the one job, and every
     * registration has its row.
     */
    async expectOneWorker(): Promise<void> {
      const live = await world.alive();
      expect(live).toHaveLength(1);
      const [worker] = live;
      expect(worker?.pod_uid).not.toBeNull();
      expect(pods()).toEqual([worker?.pod_name]);
      expect(secrets()).toEqual([`runners/${worker?.pod_name}`]);
      const begun = new Set(
        (await world.workers())
          .filter((row) => row.registration_started_at !== null)
          .map((row) => row.pod_name),
      );
      const registered = await runners();
      expect(registered).toContain(worker?.pod_name);
      expect(registered.filter((name) => !begun.has(name))).toEqual([]);
      expect(await tasks()).toEqual([]);
    },
  };
}
