import { useTestDatabase } from '@paddock/testing/use-test-database';
import { describe, expect, test } from '@jest/globals';
import { useDiscoveryScene } from '../scenes/use-scenes.scene.ts';
import { UNCHANGED_AT_MOST } from './list-jobs-of-runs.ts';

const scene = useDiscoveryScene(useTestDatabase());

const look = async () => {
  await scene.passMinutes(6);
  return scene.discover();
};
const runOf = async (jobId: number) =>
  (await scene.world.github.truth()).jobs.find(({ id }) => id === jobId)?.runId ?? 0;
const remaining = () =>
  scene.github.budgetOf(scene.world.organization.installationId)?.remaining ?? NaN;

describe('a job that joins a known run without a delivery (E2, P1)', () => {
  test('is found although no list of runs changes: an approval lets it go', async () => {
    const works = await scene.queue('acme/api', { hosted: true, durationMs: 3_600_000 });
    const waits = await scene.queue('acme/api', { runId: await runOf(works), waiting: true });
    await scene.discover();
    expect(await scene.jobIds()).toEqual([works]);
    await scene.world.github.approveJob(waits);
    expect(await look()).toMatchObject({ unchanged: 7, found: 1 });
    expect(await scene.row(waits)).toMatchObject({ status: 'pending', wants_worker: true });
  });

  test('is found where the run’s jobs fill more than a page', async () => {
    const first = await scene.queue('acme/api');
    const runId = await runOf(first);
    for (let index = 0; index < 100; index++) await scene.queue('acme/api', { runId });
    const last = await scene.queue('acme/api', { runId, waiting: true });
    await scene.discover();
    await scene.world.github.approveJob(last);
    expect(await look()).toMatchObject({ unchanged: 7, found: 1 });
  });

  test('is found in a run that is not among the newest hundred', async () => {
    const oldest = await scene.queue('acme/api', { hosted: true, durationMs: 3_600_000 });
    const waits = await scene.queue('acme/api', { runId: await runOf(oldest), waiting: true });
    for (let index = 0; index < 100; index++)
      await scene.queue('acme/api', { hosted: true, durationMs: 3_600_000 });
    await scene.discover();
    await look();
    await scene.world.github.approveJob(waits);
    for (let turn = 0; turn < 2; turn++) await look();
    expect(await scene.row(waits)).toMatchObject({ status: 'pending', wants_worker: true });
  });

  test('is found in a run that was silent for days', async () => {
    const waits = await scene.queue('acme/api', { waiting: true });
    await scene.discover();
    for (let day = 0; day < 3; day++) {
      await scene.passMinutes(23 * 60);
      expect(await scene.discover()).toMatchObject({ found: 0 });
    }
    await scene.world.github.approveJob(waits);
    expect(await look()).toMatchObject({ found: 1 });
  });
});

describe('the cost of known runs (E2, P4)', () => {
  test('a run’s jobs cost a call when they have changed, and otherwise once in twelve looks: an ETag is not trusted for ever', async () => {
    await scene.queue('acme/api');
    await scene.discover();
    const before = remaining();
    for (let turn = 0; turn < UNCHANGED_AT_MOST; turn++)
      expect(await look()).toMatchObject({ jobs: 0 });
    expect(remaining()).toBe(before);
    expect(await look()).toMatchObject({ jobs: 1, found: 0 });
    expect(remaining()).toBe(before - 1);
  });

  test('jobs that cannot be read are read again at the next look', async () => {
    const job = await scene.queue('acme/api', { jobName: 'odd' });
    await scene.discover({ appIds: [] });
    const real = scene.github.asInstallation;
    const odd: typeof real = (...given) => {
      const client = real(...given);
      client.octokit.hook.after('request', ({ data }) => {
        if (typeof data === 'object' && data !== null && 'jobs' in data && Array.isArray(data.jobs))
          data.jobs.forEach(withoutLabels);
      });
      return client;
    };
    expect(
      await scene.discover({ github: { ...scene.github, asInstallation: odd } }),
    ).toMatchObject({ found: 0, incomplete: 1 });
    expect(await look()).toMatchObject({ found: 1 });
    expect(await scene.jobIds()).toEqual([job]);
  });
});

function withoutLabels(job: unknown): void {
  if (typeof job === 'object' && job !== null && 'labels' in job) job.labels = 'none';
}
