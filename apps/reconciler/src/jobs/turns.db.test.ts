import { findJobsToLookUp } from '@paddock/db/jobs/look-ups';
import { markJobsInDoubt } from '@paddock/db/jobs/jobs-in-doubt';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { putReason, RULES } from '../scenes/stuck-jobs.scene.ts';
import { useDiscoveryScene, useJobsScene } from '../scenes/use-scenes.scene.ts';

const database = useTestDatabase();
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);

describe('a backlog of one entity takes turns with the one job of another (E2, P6)', () => {
  const scene = useJobsScene(database);
  const old = { lookup_due_at: null, created_at: minutesAgo(180) };

  /** A waiting job of acme whose key is held back, and `count` - 1 more like it. */
  async function putBacklog(count: number): Promise<void> {
    const first = await scene.addJob({ row: old });
    await sql`insert into jobs (job_id, wants_worker, entity_id, entity_name, entity_type, repo_id, repo_full_name, app_id, installation_id,
        job_labels, k8s_pool, k8s_image, scope_repo_id, pools_version, run_id, run_attempt, job_name, created_at)
      select 70000000000 + n, true, entity_id, entity_name, entity_type, repo_id, repo_full_name, app_id, installation_id,
        job_labels, k8s_pool, k8s_image, scope_repo_id, pools_version, 80000000000 + n, 1, job_name, created_at
      from jobs, generate_series(2, ${count}::integer) n where job_id = ${first}`.execute(scene.db);
    await putReason(scene.db, first, 'at_entity_cap');
  }

  test('when doubts are looked for, and when GitHub is asked', async () => {
    const monas = await scene.addJob({
      job: { repo: 'mona/tool' },
      row: { ...old, created_at: minutesAgo(40) },
    });
    await putBacklog(2_000);
    const found = await markJobsInDoubt(scene.own, RULES);
    expect(found).toHaveLength(RULES.batch);
    expect(found.map(({ jobId }) => jobId)).toContain(monas);
    await markJobsInDoubt(scene.own, { ...RULES, batch: 3_000 });
    const { appId } = scene.world;
    const query = { batch: 250, secondLookMs: 60_000, appIds: [appId] };
    const next = await findJobsToLookUp(scene.own, query);
    expect(next).toHaveLength(250);
    expect(next.map(({ jobId }) => jobId)).toContain(monas);
  });
});

describe('runs of one entity for which GitHub answers 502 (E2, P6)', () => {
  const scene = useJobsScene(database);

  test('hold back none of another, in any pass, and are asked about ever more rarely', async () => {
    const BAD = 4;
    for (let n = 0; n < BAD; n++) {
      const id = await scene.addJob();
      const { run_id: run } = await scene.db
        .selectFrom('jobs')
        .select('run_id')
        .where('job_id', '=', id)
        .executeTakeFirstOrThrow();
      await scene.world.github.failNext({
        path: `/actions/runs/${run}/jobs`,
        status: 502,
        times: 1_000,
      });
    }
    const asked: number[] = [];
    for (let minute = 0; minute < 30; minute++) {
      const id = await scene.addJob({ job: { repo: 'mona/tool' } });
      await scene.world.github.cancelJob(id);
      const { unanswered } = await scene.lookUp();
      asked.push(unanswered);
      expect(await scene.row(id)).toMatchObject({ status: 'completed' });
      const ago = sql`interval '1 minute'`;
      await sql`update jobs set lookup_due_at = lookup_due_at - ${ago}, unanswered_since = unanswered_since - ${ago}`.execute(
        scene.db,
      );
    }
    // After 1, 2, 4, 8 and 16 minutes or so: a pass takes time too.
    const times = asked.filter((count) => count > 0).length;
    expect(times).toBeGreaterThanOrEqual(5);
    expect(times).toBeLessThanOrEqual(10);
  });
});

describe('repositories of one entity that GitHub cannot list (E2, P6)', () => {
  const scene = useDiscoveryScene(database);

  test('hold back no repository of another', async () => {
    for (let n = 0; n < 4; n++) {
      await scene.world.github.addRepository({ owner: 'acme', name: `huge${n}` });
      const path = `/repos/acme/huge${n}/actions/runs`;
      await scene.world.github.failNext({ path, status: 502, times: 1_000 });
    }
    await scene.discover();
    await sql`update repositories set active_at = now(), due_at = case when full_name like 'acme/huge%' then now() - interval '2 minutes'
      else now() - interval '1 minute' end`.execute(scene.db);
    const lost = await scene.queue('mona/tool');
    await scene.discover();
    expect(await scene.jobIds()).toContain(lost);
  });
});
