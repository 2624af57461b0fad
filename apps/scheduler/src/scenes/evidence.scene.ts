import { expect } from '@jest/globals';
import type { SchedulerWorld } from './scheduler.scene.ts';

/** The rows and objects made in a world since `look`, for tests that share one. */
export async function look(world: SchedulerWorld) {
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
