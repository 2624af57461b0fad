import { describe, expect, test } from '@jest/globals';
import { noteKeyFailure } from '@paddock/db/workers/failing-keys';
import { sql } from 'kysely';
import { failingStarts } from '../scenes/failing-starts.scene.ts';
import { useFollowedPods, useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld({ playRunners: false });
const followed = useFollowedPods(world);

const starts = failingStarts(world, followed);

const workersOf = async (pool: string) =>
  (await world.workers()).filter((worker) => worker.k8s_pool === pool);
const runningOf = async (pool: string) =>
  (await workersOf(pool)).filter(({ status }) => status === 'running').length;

const forget = () => world.db.deleteFrom('demand_keys').execute();
const fail = async (failureClass: string) => {
  const [worker] = await workersOf('linux');
  const failure = { podName: worker?.pod_name ?? '', failureClass, message: 'before' };
  await noteKeyFailure(world.db, failure, world.parts.failureRules);
};
const failures = async () =>
  (await world.db.selectFrom('demand_keys').select('failures').executeTakeFirst())?.failures;
const pausesOver = () =>
  world.db
    .updateTable('demand_keys')
    .set({ paused_until: new Date(0) })
    .where('pauses', '>', 0)
    .execute();
describe('a key whose image cannot be pulled (C11, P4)', () => {
  test('costs one registration per pause, and holds back no other pool; once the image is back, the trial lets all go on', async () => {
    await starts.breakImage();
    for (let job = 0; job < 4; job += 1) await world.queueJob();
    await starts.makeWorkers();
    for (let round = 1; round <= 3; round += 1) {
      await starts.passMinute();
      await starts.stopHopeless();
      // Two passes in each pause: the trial waits, and no other worker is made.
      await world.holdPauses();
      await starts.makeWorkers();
      await starts.makeWorkers();
      await world.queueJob({ row: { k8s_pool: 'other' } });
      await pausesOver();
      await world.makeDue();
      await starts.makeWorkers();
      expect(
        (await workersOf('linux')).filter((worker) => worker.registered_at !== null),
      ).toHaveLength(4 + round);
      expect(await runningOf('other')).toBe(round);
    }
    await starts.mendImage();
    await starts.passMinute();
    await starts.stopHopeless();
    await pausesOver();
    await world.match();
    await world.makeDue();
    await starts.makeWorkers();
    expect(await runningOf('linux')).toBe(1);
    await starts.makeWorkers();
    expect(await runningOf('linux')).toBe(4);
  });

  test.each([
    ['that failed so before, ends its failures', 'image_pull', 'image_pull', '1 minute', 0],
    ['that was registered since the last failure, ends them', null, 'image_pull', '-1 minute', 0],
    ['that was registered before the last failure, does not', null, 'image_pull', '1 minute', 1],
    ['says nothing of runners that fail later', null, 'exit_code', '-1 minute', 1],
  ])(
    'is tried again: a start of a worker %s',
    async (_what, stuckReason, failureClass, since, left) => {
      const pod = await starts.makeFailing();
      await forget();
      await fail(failureClass);
      await sql`update demand_keys set failed_at = now() + ${since}::interval`.execute(world.db);
      await world.db.updateTable('workers').set({ stuck_reason: stuckReason }).execute();
      const { waitingReason: _waits, ...rest } = pod;
      await followed.see({ ...rest, phase: 'Running', runningAt: new Date() });
      expect(await failures()).toBe(left);
    },
  );

  test.each(['image_pull', 'container_config', 'node_refused'])(
    'after many failed trials is tried again within a minute: %s',
    async (failureClass) => {
      const pod = await starts.makeFailing();
      await forget();
      for (let count = 0; count < 3; count += 1) await fail(failureClass);
      await world.db
        .updateTable('demand_keys')
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
        ? followed.see({
            ...rest,
            phase: 'Failed',
            podReason: 'OutOfcpu',
            containersTerminated: true,
          })
        : followed.see({
            ...rest,
            waitingReason:
              failureClass === 'image_pull' ? reasons.image_pull : reasons.container_config,
          }));
      const [key] = await world.db
        .selectFrom('demand_keys')
        .select(['failure_class', 'pauses', 'paused_until'])
        .execute();
      expect(key).toMatchObject({ failure_class: failureClass, pauses: 10 });
      expect((key?.paused_until?.getTime() ?? Infinity) - Date.now()).toBeLessThanOrEqual(60_000);
    },
  );
});
