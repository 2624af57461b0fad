import { describe, expect, test } from '@jest/globals';
import { useJobsScene } from '../scenes/use-scenes.scene.ts';
import { useTestDatabase } from '@paddock/testing/use-test-database';

const scene = useJobsScene(useTestDatabase());

const JOBS_OF_RUN = 'actions/list-jobs-for-workflow-run';
const running = { status: 'running', wants_worker: false } as const;

describe('when GitHub fails', () => {
  test.each([
    ['answers 500', { status: 500 }],
    ['cuts the connection', {}],
    ['does the work and loses its answer', { afterCommit: true }],
  ])(
    '%s, for one run: the others are looked up, and it has its turn later',
    async (_name, fault) => {
      const jobs = [
        await scene.addJob(),
        await scene.addJob(),
        await scene.addJob({ job: { repo: 'mona/tool' } }),
      ];
      for (const job of jobs) await scene.world.github.cancelJob(job);
      await scene.world.github.failNext({ ...fault, path: '/jobs$', after: 1 });
      expect(await scene.lookUp()).toMatchObject({ runs: 2, stated: 2, unanswered: 1 });
      expect(await scene.lookUp()).toMatchObject({ jobs: 0 });
      await scene.db
        .updateTable('jobs')
        .set({ lookup_due_at: new Date(0) })
        .where('status', '=', 'pending')
        .execute();
      expect(await scene.lookUp()).toMatchObject({ runs: 1, stated: 1 });
      for (const job of jobs) expect(await scene.row(job)).toMatchObject({ status: 'completed' });
    },
  );

  test.each([0, 1, 2, 3])(
    'on the call after %d others, the next passes finish the look-ups',
    async (after) => {
      const jobs = [
        await scene.addJob({ row: running }),
        await scene.addJob({ row: running, job: { repo: 'mona/tool' } }),
      ];
      await scene.world.github.failNext({ path: '/', status: 502, after });
      await scene.lookUp();
      await scene.world.github.clearFaults();
      for (let time = 0; time < 3; time++) {
        await scene.db
          .updateTable('jobs')
          .set({ lookup_due_at: new Date(0) })
          .where('wants_worker', '=', false)
          .execute();
        await scene.passTime();
        await scene.lookUp();
      }
      for (const job of jobs)
        expect(await scene.row(job)).toMatchObject({ wants_worker: true, requeues: 1 });
    },
  );

  test('refuses an entity: one call is made, the refusal is stored, and the other entities continue (C9)', async () => {
    const ofMona = await scene.addJob({ job: { repo: 'mona/tool' } });
    for (let index = 0; index < 3; index++) await scene.addJob();
    await scene.world.github.failNext({ path: '/repos/acme/', status: 403, times: 9 });
    expect(await scene.lookUp()).toMatchObject({ runs: 1, unanswered: 3 });
    expect(scene.unanswered).toEqual(['forbidden']);
    expect(await scene.events()).toEqual([
      expect.objectContaining({ event: 'auth_attempt.other_error' }),
    ]);
    expect(await scene.row(ofMona)).toMatchObject({ looked_up_at: expect.any(Date) });
    await scene.passTime();
    await scene.db
      .updateTable('jobs')
      .set({ lookup_due_at: new Date(0) })
      .execute();
    expect(await scene.lookUp()).toMatchObject({ jobs: 1, runs: 1 });
  });

  test('refuses a repository: no other call about it is made, and the entity’s others are asked about (P6)', async () => {
    for (let index = 0; index < 3; index++) await scene.addJob();
    const ofSite = await scene.addJob({ job: { repo: 'acme/site' } });
    await scene.world.github.failNext({ path: '/repos/acme/api/', status: 403, times: 9 });
    expect(await scene.lookUp()).toMatchObject({ runs: 1, unanswered: 3 });
    expect(scene.unanswered).toEqual(['forbidden']);
    expect(await scene.row(ofSite)).toMatchObject({ looked_up_at: expect.any(Date) });
  });

  test('leaves little of the budget, a pass takes its share of it, and the rest has its turn later (P4)', async () => {
    for (let index = 0; index < 8; index++) await scene.addJob();
    const monas = await scene.addJob({ job: { repo: 'mona/tool' } });
    const caller = { installationId: scene.world.organization.installationId };
    await scene.world.github.setRateLimit({ caller, resource: 'core', limit: 5000, remaining: 20 });
    expect(await scene.lookUp()).toMatchObject({ runs: 6, unanswered: 3 });
    expect(await scene.row(monas)).toMatchObject({ looked_up_at: expect.any(Date) });
    expect(await scene.lookUp()).toMatchObject({ jobs: 3, unanswered: 0, full: false });
  });

  test('at no call, and more look-ups are due than a pass takes: it says so, and the rest has its turn', async () => {
    for (let index = 0; index < 3; index++) await scene.addJob();
    for (const jobs of [2, 1])
      expect(await scene.lookUp({ batch: 2 })).toMatchObject({ jobs, full: jobs === 2 });
  });

  test('for many runs in a row, the pass goes on; if our own probe has no answer, it ends, and all stay due', async () => {
    for (let index = 0; index < 5; index++) await scene.addJob();
    await scene.world.github.failNext({ path: '', status: 503, times: 9 });
    expect(await scene.lookUp()).toMatchObject({ runs: 0, unanswered: 1 });
    await scene.world.github.clearFaults();
    await scene.world.github.failNext({ path: '/jobs$', status: 503, times: 4 });
    expect(await scene.lookUp()).toMatchObject({ jobs: 5, runs: 1, unanswered: 4 });
    expect(await scene.calls(JOBS_OF_RUN)).toBe(5);
  });
});
