import { describe, expect, test } from '@jest/globals';
import { useJobsScene } from '../scenes/use-scenes.scene.ts';
import { useTestDatabase } from '@paddock/testing/use-test-database';

const scene = useJobsScene(useTestDatabase());
const running = { status: 'running', wants_worker: false } as const;

describe('one pass of look-ups', () => {
  test('finds and asks about a stuck job, and a job whose end was never delivered (E3)', async () => {
    const old = { lookup_due_at: null, created_at: new Date(Date.now() - 3_660_000) };
    const [waits, elsewhere] = [
      await scene.addJob({ row: old }),
      await scene.addJob({ row: { ...running, ...old } }),
    ];
    for (const job of [waits, elsewhere]) await scene.world.github.cancelJob(job);
    const counts = {
      recovered: 1,
      suspected: 1,
      lost: 0,
      jobs: 2,
      runs: 2,
      stated: 2,
      full: false,
    };
    expect(await scene.lookUp()).toMatchObject(counts);
    expect(scene.recovered).toEqual([waits]);
    for (const job of [waits, elsewhere])
      expect(await scene.row(job)).toMatchObject({ status: 'completed' });
  });

  test('fails a job after a day without an answer, and corrects that once GitHub answers (E3, A6)', async () => {
    const long = new Date(Date.now() - 49 * 3_600_000);
    const silent = { recovery_attempts: 3, unanswered_since: new Date(Date.now() - 86_460_000) };
    const row = { lookup_due_at: null, created_at: long, queued_at: long, ...silent };
    const job = await scene.addJob({ row });
    await scene.world.github.failNext({ path: '/jobs$', status: 502 });
    expect(await scene.lookUp()).toMatchObject({ lost: 1, recovered: 0, unanswered: 1 });
    expect([scene.lost, (await scene.row(job)).status]).toEqual([[job], 'failed']);
    await scene.world.github.cancelJob(job);
    await scene.db
      .updateTable('jobs')
      .set({ lookup_due_at: new Date(0) })
      .execute();
    expect(await scene.lookUp()).toMatchObject({ lost: 0, stated: 1 });
    expect(await scene.row(job)).toMatchObject({ status: 'failed', misjudged: true });
  });

  test('beside more than a pass marks has its turn: the pass says that there are more', async () => {
    const row = { lookup_due_at: null, created_at: new Date(Date.now() - 660_000) };
    for (let index = 0; index < 3; index++) await scene.addJob({ row });
    for (const jobs of [2, 1])
      expect(await scene.lookUp({ doubts: { batch: 2 } })).toMatchObject({
        recovered: jobs,
        jobs,
        full: jobs === 2,
      });
  });
});
