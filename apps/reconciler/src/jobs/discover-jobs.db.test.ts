import { useTestDatabase } from '@paddock/testing/use-test-database';
import { examplePools, putPools } from '@paddock/testing/demand-rows';
import { describe, expect, test } from '@jest/globals';
import { useDiscoveryScene } from '../scenes/use-scenes.scene.ts';

const scene = useDiscoveryScene(useTestDatabase());

const hosted = { hosted: true, durationMs: 3_600_000 };

describe('jobs that no delivery has announced (E2)', () => {
  test('a queued one in a repository of an installation that is new is demand, at once', async () => {
    const [ours, other] = [
      await scene.queue('acme/api'),
      await scene.queue('acme/api', { labels: ['windows'] }),
    ];
    const monas = await scene.queue('mona/tool');
    expect(await scene.discover()).toMatchObject({
      listed: 2,
      repositories: 3,
      resting: 1,
      runs: 3,
      jobs: 3,
      unanswered: 0,
      incomplete: 0,
    });
    expect(await scene.jobIds()).toEqual([ours, monas]);
    expect(other).not.toBe(ours);
    expect(await scene.row(ours)).toMatchObject({ status: 'pending', wants_worker: true });
    expect((await scene.events()).toSorted((a, b) => Number(a.job_id) - Number(b.job_id))).toEqual(
      [ours, monas].map((job) => ({
        event: 'discovered.queued',
        outcome: 'job_stored',
        job_id: job,
      })),
    );
    const stored = await scene.db
      .selectFrom('jobs')
      .select(['entity_name', 'repo_full_name', 'scope_repo_id'])
      .orderBy('job_id')
      .execute();
    expect(stored).toEqual([
      { entity_name: 'acme', repo_full_name: 'acme/api', scope_repo_id: 0 },
      {
        entity_name: 'mona',
        repo_full_name: 'mona/tool',
        scope_repo_id: scene.world.repositories.tool,
      },
    ]);
  });

  test('one that runs on one of our workers is bound to it, with any labels (B7)', async () => {
    const name = await scene.startRunner();
    const job = await scene.queue('acme/api', { durationMs: 3_600_000 });
    await scene.discover();
    expect(await scene.row(job)).toMatchObject({ status: 'running', k8s_pod: name });
    const bound = scene.db
      .selectFrom('workers')
      .select('assigned_job_id')
      .where('pod_name', '=', name);
    expect(await bound.execute()).toEqual([{ assigned_job_id: job }]);
  });

  test('one that runs on a worker whose pool does not serve it is bound to it, and told (B7, B10)', async () => {
    await putPools(scene.db, examplePools({ pools: [{ entities: ['beta'] }] }));
    const name = await scene.startRunner();
    const job = await scene.queue('acme/api', { durationMs: 3_600_000 });
    await scene.discover();
    expect(await scene.row(job)).toMatchObject({ status: 'running', k8s_pod: name });
    expect(await scene.events()).toEqual([
      { event: 'discovered.in_progress', outcome: 'worker_misused', job_id: job },
    ]);
    expect(scene.misused).toEqual([job]);
    const worker = await scene.db
      .selectFrom('workers')
      .select(['status', 'stopping_at'])
      .executeTakeFirstOrThrow();
    expect(worker).toMatchObject({ stopping_at: null });
  });

  test('a known one that GitHub runs is running; one that we run and GitHub calls queued is looked up', async () => {
    const waits = await scene.addJob({ job: hosted, row: { lookup_due_at: null } });
    const runs = await scene.addJob({
      row: { lookup_due_at: null, status: 'running', wants_worker: false },
    });
    expect(await scene.discover()).toMatchObject({ found: 1, inDoubt: 1 });
    expect(await scene.row(waits)).toMatchObject({ status: 'running', wants_worker: false });
    expect(await scene.row(runs)).toMatchObject({
      status: 'running',
      wants_worker: false,
      lookup_due_at: expect.any(Date),
    });
  });

  test('jobs in a run that waits for another one’s approval are found, on all pages', async () => {
    const first = await scene.queue('acme/api', { waiting: true });
    const { runId = 0 } =
      (await scene.world.github.truth()).jobs.find(({ id }) => id === first) ?? {};
    const queued = [];
    for (let index = 0; index < 110; index++) queued.push(await scene.queue('acme/api', { runId }));
    for (let index = 0; index < 105; index++) queued.push(await scene.queue('acme/api'));
    // The newest runs come first, a hundred of them.
    expect(await scene.discover()).toMatchObject({ runs: 106, found: 100, incomplete: 1 });
    await scene.passMinutes(6);
    expect(await scene.discover()).toMatchObject({ runs: 106, found: 115, incomplete: 1 });
    expect(await scene.jobIds()).toEqual(queued);
  });

  test('a repeated answer changes nothing, and adds no event (A5)', async () => {
    const job = await scene.queue('acme/api');
    await scene.discover();
    const before = await scene.db
      .selectFrom('jobs')
      .selectAll()
      .where('job_id', '=', job)
      .execute();
    await scene.db
      .updateTable('repositories')
      .set({ etags: '{}', due_at: new Date(0) })
      .execute();
    expect(await scene.discover()).toMatchObject({ jobs: 1, found: 0 });
    expect(
      await scene.db.selectFrom('jobs').selectAll().where('job_id', '=', job).execute(),
    ).toEqual(before);
    expect(await scene.events()).toHaveLength(1);
  });
});

describe('when GitHub fails', () => {
  test('for one repository: the others are looked at, and it has its turn later', async () => {
    await scene.queue('acme/api');
    await scene.queue('acme/site', {});
    await scene.queue('mona/tool');
    await scene.world.github.failNext({ path: '/repos/acme/api/actions/runs$', status: 502 });
    expect(await scene.discover()).toMatchObject({ repositories: 2, unanswered: 1 });
    expect(scene.unanswered).toEqual(['unavailable']);
    await scene.passMinutes(6);
    await scene.discover();
    expect(await scene.jobIds()).toHaveLength(2);
  });

  test.each(Array.from({ length: 24 }, (_, nth) => nth))(
    'on the call after %d others, the next passes find the jobs',
    async (after) => {
      const jobs = [await scene.queue('acme/api'), await scene.queue('mona/tool')];
      await scene.world.github.failNext({ path: '/', status: 502, after });
      await scene.discover();
      await scene.world.github.clearFaults();
      for (let pass = 0; pass < 2; pass++) {
        await scene.passMinutes(6);
        await scene.discover();
      }
      expect(await scene.jobIds()).toEqual(jobs);
    },
  );

  test('refuses an entity: one call is made, the refusal is stored, and other entities continue (C9)', async () => {
    await scene.queue('acme/api');
    const monas = await scene.queue('mona/tool');
    await scene.discover({ appIds: [] });
    await scene.world.github.suspend(scene.world.organization.installationId);
    expect(await scene.discover()).toMatchObject({ listed: 1, unanswered: 1, repositories: 1 });
    expect(await scene.jobIds()).toEqual([monas]);
    expect(scene.unanswered).toEqual(['forbidden']);
    expect((await scene.events()).map(({ event }) => event)).toContain('auth_attempt.other_error');
    expect(await scene.discover()).toMatchObject({ listed: 0, unanswered: 0 });
    await scene.world.github.unsuspend(scene.world.organization.installationId);
    await scene.db
      .updateTable('installations')
      .set({ updated_at: new Date() })
      .where('login', '=', 'acme')
      .execute();
    expect(await scene.discover()).toMatchObject({ listed: 1, found: 1 });
  });

  test('a renamed repository is found by its id; a repository that is no longer visible changes nothing (A12)', async () => {
    const job = await scene.queue('acme/api');
    await scene.queue('mona/tool');
    await scene.db
      .updateTable('installations')
      .set({ listed_at: new Date(Date.now() + 60_000) })
      .execute();
    const repository = {
      entity_id: scene.world.organization.id,
      app_id: scene.world.appId,
      active_at: new Date(),
    };
    await scene.db
      .insertInto('repositories')
      .values([
        { ...repository, repo_id: scene.world.repositories.api, full_name: 'acme/of-old' },
        { ...repository, repo_id: 999, full_name: null },
      ])
      .execute();
    expect(await scene.discover()).toMatchObject({ repositories: 1, unanswered: 1 });
    expect(scene.unanswered).toEqual(['invisible']);
    expect(await scene.jobIds()).toEqual([job]);
    const names = await scene.db
      .selectFrom('repositories')
      .select('full_name')
      .orderBy('repo_id')
      .execute();
    expect(names).toEqual([{ full_name: null }, { full_name: 'acme/api' }]);
  });
});
