import { describe, expect, test } from '@jest/globals';
import { failingStarts } from '../scenes/failing-starts.scene.ts';
import { useFollowedPods, useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld({ playRunners: false });
const followed = useFollowedPods(world);

const starts = failingStarts(world, followed);

const workersOf = async (pool: string) =>
  (await world.workers()).filter((worker) => worker.k8s_pool === pool);
const runningOf = async (pool: string) =>
  (await workersOf(pool)).filter(({ status }) => status === 'running').length;

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
});
