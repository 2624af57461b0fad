import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { findInstance } from '@paddock/db/instance';
import { noteFailure } from '@paddock/db/breakers/note-failure';
import { poolBreaker } from '@paddock/db/breakers/breaker-subjects';
import type { ObservedPod } from '@paddock/kube/observed-pod';
import { listPods } from '@paddock/kube/pods';
import { BREAKER_RULES } from '@paddock/testing/breaker-rules';
import { examplePools } from '@paddock/testing/demand-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { minutesAgo } from '@paddock/testing/worker-rows';
import { sql } from 'kysely';
import { type SchedulerWorld, startSchedulerWorld } from '../scenes/scheduler.scene.ts';
import { FOLLOWING } from '../scenes/settings.scene.ts';
import { takeChanges, takeList } from './follow-pods.ts';
import { stopUnstartable } from './stop-unstartable.ts';

let world: SchedulerWorld;
let instance: string;
beforeAll(async () => {
  world = await startSchedulerWorld({ playRunners: false });
  instance = await findInstance(world.db);
});
afterAll(() => world.stop());
beforeEach(() => world.reset());

const parts = () => ({ ...world.parts, ...FOLLOWING });
const list = async () => (await listPods(world.cluster, { namespace: 'runners', instance })).pods;
const seen = (pod: ObservedPod, changed: Partial<ObservedPod> = {}) =>
  takeChanges(parts(), [{ type: 'modified', pod: { ...pod, ...changed }, resourceVersion: '1' }]);

const BROKEN = {
  template: { metadata: { annotations: { 'test.paddock/start': 'image-pull-error' } } },
};
const OTHER = { name: 'other', labels: ['self-hosted', 'other'] };
const breakImage = () => world.putPools(examplePools({ pools: [BROKEN, OTHER] }));
const mendImage = () => world.putPools(examplePools({ pools: [{}, OTHER] }));

/**
 * Makes the wanted workers, and writes the cluster's states once all pods have started or failed.
 */
async function makeWorkers(): Promise<readonly ObservedPod[]> {
  await world.match();
  await world.runTasks();
  const pods = await waitFor('the pods to start or fail', async () => {
    const now = await list();
    return now.every(
      ({ phase, waitingReason }) => phase === 'Running' || waitingReason !== undefined,
    )
      ? now
      : undefined;
  });
  await takeList(parts(), 'runners', pods, []);
  return pods;
}

/** A worker that was seen to fail in its start, and diagnosed. */
async function makeFailing(): Promise<ObservedPod> {
  await breakImage();
  await world.queueJob();
  const [pod] = await makeWorkers();
  if (pod === undefined) throw new Error('no pod was made');
  await world.runTasks();
  return pod;
}

const workersOf = async (pool: string) =>
  (await world.workers()).filter((worker) => worker.k8s_pool === pool);
const runningOf = async (pool: string) =>
  (await workersOf(pool)).filter(({ status }) => status === 'running').length;

const stopHopeless = () => stopUnstartable(parts(), new AbortController().signal);

/** As if all that fail had done so for a minute. */
const passMinute = () =>
  world.db
    .updateTable('workers')
    .set({ stuck_at: minutesAgo(1) })
    .where('stuck_at', 'is not', null)
    .execute();
const pausesOver = () =>
  world.db
    .updateTable('breakers')
    .set({ paused_until: new Date(0) })
    .where('pauses', '>', 0)
    .execute();
describe('a pool whose image cannot be pulled (C11, P4)', () => {
  test('costs one registration per pause, and holds back no other pool; once the image is back, the trial lets all go on', async () => {
    await breakImage();
    for (let job = 0; job < 4; job += 1) await world.queueJob();
    await makeWorkers();
    for (let round = 1; round <= 3; round += 1) {
      await passMinute();
      await stopHopeless();
      // Two passes in each pause: the trial waits, and no other worker is made.
      await world.holdPauses();
      await makeWorkers();
      await makeWorkers();
      await world.queueJob({ row: { k8s_pool: 'other' } });
      await pausesOver();
      await world.makeDue();
      await makeWorkers();
      expect(
        (await workersOf('linux')).filter((worker) => worker.registered_at !== null),
      ).toHaveLength(4 + round);
      expect(await runningOf('other')).toBe(round);
    }
    await mendImage();
    await passMinute();
    await stopHopeless();
    await pausesOver();
    await world.match();
    await world.makeDue();
    await makeWorkers();
    expect(await runningOf('linux')).toBe(1);
    await makeWorkers();
    expect(await runningOf('linux')).toBe(4);
  });

  test.each([
    ['that failed so before, closes it', 'image_pull', 'image_pull', '1 minute', 0],
    ['that was registered since the last failure, closes it', null, 'image_pull', '-1 minute', 0],
    ['that was registered before the last failure, does not', null, 'image_pull', '1 minute', 1],
    ['says nothing of runners that fail later', null, 'exit_code', '-1 minute', 1],
  ])(
    'is tried again by its breaker: a start of a worker %s',
    async (_what, stuckReason, failureClass, since, left) => {
      const pod = await makeFailing();
      await world.db.deleteFrom('breakers').execute();
      await noteFailure(world.parts, {
        subject: poolBreaker('linux'),
        failureClass,
        message: 'before',
      });
      await sql`update breakers set failed_at = now() + ${since}::interval`.execute(world.db);
      await world.db.updateTable('workers').set({ stuck_reason: stuckReason }).execute();
      const { waitingReason: _waits, ...rest } = pod;
      await seen({ ...rest, phase: 'Running', runningAt: new Date() });
      expect(await world.db.selectFrom('breakers').selectAll().execute()).toHaveLength(left);
    },
  );

  test.each(['image_pull', 'container_config', 'node_refused'])(
    'after many failed trials is tried again within a minute: %s',
    async (failureClass) => {
      const pod = await makeFailing();
      await world.db.deleteFrom('breakers').execute();
      for (let count = 0; count < BREAKER_RULES.failures; count += 1)
        await noteFailure(world.parts, {
          subject: poolBreaker('linux'),
          failureClass,
          message: 'before',
        });
      await world.db
        .updateTable('breakers')
        .set({ pauses: 9, paused_until: new Date(0) })
        .execute();
      await world.db
        .updateTable('workers')
        .set({ stuck_reason: null, stuck_at: null, failure_info: null })
        .execute();
      const reasons = {
        image_pull: 'ErrImagePull',
        container_config: 'CreateContainerConfigError',
      } as const;
      const { waitingReason: _waits, ...rest } = pod;
      await (failureClass === 'node_refused'
        ? seen({ ...rest, phase: 'Failed', podReason: 'OutOfcpu', containersTerminated: true })
        : seen({
            ...rest,
            waitingReason:
              failureClass === 'image_pull' ? reasons.image_pull : reasons.container_config,
          }));
      const [breaker] = await world.db
        .selectFrom('breakers')
        .select(['failure_class', 'pauses', 'paused_until'])
        .execute();
      expect(breaker).toMatchObject({ failure_class: failureClass, pauses: 10 });
      expect((breaker?.paused_until?.getTime() ?? Infinity) - Date.now()).toBeLessThanOrEqual(
        60_000,
      );
    },
  );
});
