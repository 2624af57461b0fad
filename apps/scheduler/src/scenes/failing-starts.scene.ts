import type { ObservedPod } from '@paddock/kube/observed-pod';
import { examplePools } from '@paddock/testing/demand-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { minutesAgo } from '@paddock/testing/worker-rows';
import { takeList } from '../following/follow-pods.ts';
import { stopUnstartable } from '../following/stop-unstartable.ts';
import type { FollowedPods } from './followed-pods.scene.ts';
import type { SchedulerWorld } from './scheduler.scene.ts';

const BROKEN = {
  template: { metadata: { annotations: { 'test.paddock/start': 'image-pull-error' } } },
};
const OTHER = { name: 'other', labels: ['self-hosted', 'other'] };

/** Workers of the pool `linux`, whose image cannot be pulled, beside a pool that is well. */
export function failingStarts(world: SchedulerWorld, pods: FollowedPods) {
  const breakImage = () => world.putPools(examplePools({ pools: [BROKEN, OTHER] }));
  /** Makes the wanted workers, and writes the cluster's states once all pods have started or failed. */
  const makeWorkers = async (): Promise<readonly ObservedPod[]> => {
    await world.match();
    await world.runTasks();
    const seen = await waitFor('the pods to start or fail', async () => {
      const now = await pods.list();
      return now.every(
        ({ phase, waitingReason }) => phase === 'Running' || waitingReason !== undefined,
      )
        ? now
        : undefined;
    });
    await takeList(pods.parts, 'runners', seen, []);
    return seen;
  };
  return {
    breakImage,
    makeWorkers,
    mendImage: () => world.putPools(examplePools({ pools: [{}, OTHER] })),
    /** The pod of a worker that was seen to fail in its start, and diagnosed. */
    async makeFailing(): Promise<ObservedPod> {
      await breakImage();
      await world.queueJob();
      const [pod] = await makeWorkers();
      if (pod === undefined) throw new Error('no pod was made');
      await world.runTasks();
      return pod;
    },
    stopHopeless: () => stopUnstartable(pods.parts, new AbortController().signal),
    /** As if all that fail had done so for a minute. */
    passMinute: () =>
      world.db
        .updateTable('workers')
        .set({ stuck_at: minutesAgo(1) })
        .where('stuck_at', 'is not', null)
        .execute(),
  };
}
