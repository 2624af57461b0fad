import { useTestDatabase } from '@paddock/testing/use-test-database';
import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { useJobsScene } from '../scenes/use-scenes.scene.ts';

const scene = useJobsScene(useTestDatabase());

const gone = { method: 'GET', path: '/actions/runs/\\d+/jobs$', status: 404 };
const running = { status: 'running', wants_worker: false } as const;

describe('a job that GitHub does not list', () => {
  test('in the list of its run, and knows by its id, goes on (E3)', async () => {
    const job = await scene.addJob({ row: running });
    await scene.world.github.failNext(gone);
    await scene.lookUp();
    await scene.passTime();
    expect(await scene.lookUp()).toMatchObject({ queued: 1, failed: 0 });
    await scene.world.github.cancelJob(job);
    await scene.world.github.failNext(gone);
    await sql`update jobs set seen_gone_at = now() - interval '1 hour', lookup_due_at = now()`.execute(
      scene.db,
    );
    expect(await scene.lookUp()).toMatchObject({ stated: 1, failed: 0 });
    expect(await scene.row(job)).toMatchObject({ status: 'completed' });
  });

  test('because a list has fewer jobs than its total, is not missing: that is no answer (E3)', async () => {
    const first = await scene.addJob();
    const { run_id: runId } = await scene.db
      .selectFrom('jobs')
      .select('run_id')
      .where('job_id', '=', first)
      .executeTakeFirstOrThrow();
    for (let n = 0; n < 101; n++) await scene.addJob({ job: { runId } });
    for (let pass = 0; pass < 2; pass++) {
      const body = { total_count: 102, jobs: [] };
      const path = `/actions/runs/${runId}/jobs`;
      await scene.world.github.failNext({ path, after: 1, status: 200, body });
      expect(await scene.lookUp()).toMatchObject({ runs: 0, unanswered: 1 });
      await sql`update jobs set lookup_due_at = now()`.execute(scene.db);
    }
    expect(scene.unanswered).toEqual(['unusable', 'unusable']);
    expect(await scene.lookUp()).toMatchObject({ runs: 1, queued: 102 });
  });
});
