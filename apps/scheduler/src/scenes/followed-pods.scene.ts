import { findInstance } from '@paddock/db/instance';
import { findKnownPods } from '@paddock/db/workers/worker-pods';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { listPods } from '@paddock/kube/pods';
import { waitFor } from '@paddock/testing/wait-for';
import { takeChanges, takeList } from '../following/follow-pods.ts';
import { type SchedulerWorld } from './scheduler.scene.ts';
import { FOLLOWING } from './settings.scene.ts';

type End = 'succeeded' | 'failed' | 'oom';

const ENDED = new Set(['Succeeded', 'Failed']);

/** A change as a watch reports it. */
export const change = (type: 'modified' | 'deleted', pod: ObservedPod) => ({
  type,
  pod,
  resourceVersion: pod.resourceVersion,
});

export type FollowedPods = Awaited<ReturnType<typeof followedPods>>;

/** Pods of workers as the cluster has them, and the states of their rows. */
export async function followedPods(world: SchedulerWorld) {
  const instance = await findInstance(world.db);
  const parts = { ...world.parts, ...FOLLOWING };
  const list = async () => (await listPods(world.cluster, { namespace: 'runners', instance })).pods;
  const podOf = async (name: string) => (await list()).find((pod) => pod.name === name);
  const endPod = async (name: string, end: End, exitCode?: number): Promise<void> => {
    world.kube.endPod({ namespace: 'runners', name, end, exitCode });
    await waitFor('the pod to end', async () => ENDED.has((await podOf(name))?.phase ?? ''));
  };
  return {
    instance,
    parts,
    list,
    podOf,
    endPod,
    row: async (podName: string) =>
      (await world.workers()).find((worker) => worker.pod_name === podName),
    relist: async (): Promise<void> => {
      const known = await findKnownPods(world.db, 'runners');
      await takeList(parts, 'runners', await list(), known);
    },
    /** A change of a pod, as the watch shows it. */
    see: (pod: ObservedPod, changed: Partial<ObservedPod> = {}) =>
      takeChanges(parts, [{ type: 'modified', pod: { ...pod, ...changed }, resourceVersion: '1' }]),
    /** A worker whose pod runs, or has ended as told; its row does not know of either yet. */
    async startWorker(end?: End, exitCode?: number): Promise<string> {
      const jobId = await world.queueJob();
      await world.match();
      await world.runTasks();
      const worker = (await world.workers()).find((each) => each.made_for_job_id === jobId);
      if (worker === undefined) throw new Error('no worker was made');
      const name = worker.pod_name;
      await waitFor('the pod to run', async () => (await podOf(name))?.phase === 'Running');
      if (end !== undefined) await endPod(name, end, exitCode);
      return name;
    },
  };
}
