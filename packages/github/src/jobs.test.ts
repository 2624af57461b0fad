import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startSmallWorld, type SmallWorld } from '@paddock/simulators/scenes/small-world.scene';
import { waitFor } from '@paddock/testing/wait-for';
import type { GitHub, InstallationClient } from './connect.ts';
import { classifyGitHubError } from './errors.ts';
import { findRun, listRunJobs, listRunJobsIfChanged, listRuns } from './jobs.ts';
import type { ListIfChanged } from './read-pages.ts';
import { findRepository, findRepositoryByName, listRepositories } from './repositories.ts';
import { connectSmallWorld } from './scenes/connect-small-world.scene.ts';

const API = { owner: 'acme', repo: 'api' };

const etagsOf = (list: ListIfChanged<unknown> | undefined): readonly string[] =>
  list?.kind === 'changed' ? list.etags : [];

describe('what GitHub knows of jobs (E4)', () => {
  let world: SmallWorld;
  let github: GitHub;
  let client: InstallationClient;
  const jobOf = async (runId: number, id: number) =>
    (await listRunJobs(client, API, runId))?.find((job) => job.id === id);

  beforeEach(async () => {
    world = await startSmallWorld();
    github = connectSmallWorld(world, { apiUrl: `${world.github.url}/api/v3` });
    client = github.asInstallation(world.organization);
  });

  afterEach(() => world.github.stop());

  test('shows a queued job, and its run', async () => {
    const { id, runId } = await world.github.queueJob({
      repo: 'acme/api',
      labels: ['self-hosted', 'gpu'],
      jobName: 'train',
      workflowName: 'Nightly',
    });
    expect(await jobOf(runId, id)).toMatchObject({
      id,
      runId,
      runAttempt: 1,
      name: 'train',
      workflowName: 'Nightly',
      status: 'queued',
      conclusion: null,
      labels: ['self-hosted', 'gpu'],
      runnerName: null,
    });
    expect(await findRun(client, API, runId)).toMatchObject({
      id: runId,
      attempt: 1,
      status: 'queued',
      conclusion: null,
      event: 'push',
    });
  });

  test('names the runner of a completed job', async () => {
    const { id, runId } = await world.github.queueJob({
      repo: 'acme/api',
      labels: ['ubuntu-latest'],
      hosted: true,
      durationMs: 1,
    });
    await waitFor('the job to end', async () => (await jobOf(runId, id))?.status === 'completed');
    expect(await jobOf(runId, id)).toMatchObject({
      conclusion: 'success',
      runnerName: expect.stringMatching(/^GitHub Actions \d+$/),
    });
    expect(await findRun(client, API, runId)).toMatchObject({
      status: 'completed',
      conclusion: 'success',
    });
  });

  test('is undefined where GitHub answers 404', async () => {
    expect(await findRun(client, API, 1)).toBeUndefined();
    expect(await listRunJobs(client, API, 1)).toBeUndefined();
    expect(await listRunJobs(client, { owner: 'acme', repo: 'gone' }, 1)).toBeUndefined();
  });

  test('a failing GitHub does not look like an absence', async () => {
    await world.github.failNext({ path: '/runs/1$', status: 502 });
    expect(await findRun(client, API, 1).catch(classifyGitHubError)).toMatchObject({
      kind: 'unavailable',
    });
  });

  test('lists a run’s jobs from all pages and all attempts', async () => {
    const first = await world.github.queueJob({ repo: 'acme/api', labels: ['none'] });
    for (let n = 0; n < 100; n += 1)
      await world.github.queueJob({ repo: 'acme/api', labels: ['none'], runId: first.runId });
    await world.github.cancelJob(first.id);
    const again = await world.github.rerunJob(first.id);
    const jobs = await listRunJobs(client, API, first.runId);
    expect(jobs).toHaveLength(102);
    expect(jobs?.filter(({ id }) => id === first.id || id === again.id)).toMatchObject([
      { runAttempt: 1, conclusion: 'cancelled' },
      { runAttempt: 2, status: 'queued' },
    ]);
  });

  test('lists runs by status, and an unchanged list costs nothing', async () => {
    const { runId } = await world.github.queueJob({ repo: 'acme/api', labels: ['none'] });
    const list = await listRuns(client, API, { status: 'queued' });
    expect(list).toMatchObject({ kind: 'changed', items: [{ id: runId }] });
    const etags = etagsOf(list);
    expect(await listRuns(client, API, { status: 'queued', etags })).toEqual({ kind: 'unchanged' });
    await world.github.queueJob({ repo: 'acme/api', labels: ['none'] });
    expect(await listRuns(client, API, { status: 'queued', etags })).toMatchObject({
      kind: 'changed',
      items: [{}, { id: runId }],
    });
    expect(await listRuns(client, API, { status: 'completed' })).toMatchObject({ items: [] });
  });

  test('lists runs over all pages', async () => {
    for (let n = 0; n < 101; n += 1)
      await world.github.queueJob({ repo: 'acme/api', labels: ['none'] });
    const list = await listRuns(client, API, { status: 'queued' });
    expect(new Set(list.kind === 'changed' ? list.items.map(({ id }) => id) : []).size).toBe(101);
  });

  test('a run’s jobs cost nothing until one of their pages changes, and a change on the last page is seen (E2)', async () => {
    const { runId } = await world.github.queueJob({ repo: 'acme/api', labels: ['none'] });
    for (let n = 0; n < 100; n += 1)
      await world.github.queueJob({ repo: 'acme/api', labels: ['none'], runId });
    const { id: last } = await world.github.queueJob({
      repo: 'acme/api',
      labels: ['none'],
      runId,
      waiting: true,
    });
    const ask = (etags: readonly string[]) => listRunJobsIfChanged(client, API, { runId, etags });
    const etags = etagsOf(await ask([]));
    expect(etags).toHaveLength(2);
    const remaining = () => github.budgetOf(world.organization.installationId)?.remaining ?? NaN;
    const before = remaining();
    expect(await ask(etags)).toEqual({ kind: 'unchanged' });
    expect(remaining()).toBe(before);
    await world.github.approveJob(last);
    const changed = await ask(etags);
    const jobs = changed?.kind === 'changed' ? changed.items : [];
    expect(jobs).toHaveLength(102);
    expect(jobs.at(-1)).toMatchObject({ id: last, status: 'queued' });
    expect(await ask(etagsOf(changed))).toEqual({ kind: 'unchanged' });
  });

  test('follows a renamed repository, and knows it by its id (A12)', async () => {
    const { id, runId } = await world.github.queueJob({ repo: 'acme/api', labels: ['none'] });
    await world.github.renameRepository('acme/api', 'backend');
    expect(await jobOf(runId, id)).toMatchObject({ id });
    const backend = {
      id: world.repositories.api,
      owner: 'acme',
      name: 'backend',
      private: true,
      pushedAt: expect.any(String),
      canRun: true,
    };
    expect(await findRepository(client, world.repositories.api)).toEqual(backend);
    expect(await findRepositoryByName(client, API)).toEqual(backend);
    expect(await findRepository(client, world.repositories.tool)).toBeUndefined();
    expect(await findRepositoryByName(client, { owner: 'mona', repo: 'tool' })).toBeUndefined();
  });

  test('lists an installation’s repositories from all pages, with the instant of their last push (E2)', async () => {
    for (let index = 0; index < 100; index++)
      await world.github.addRepository({ owner: 'acme', name: `part-${index}` });
    await world.github.queueJob({ repo: 'acme/site', labels: ['none'] });
    const repositories = await listRepositories(client);
    expect(repositories).toHaveLength(102);
    const site = repositories.find(({ id }) => id === world.repositories.site);
    expect(site).toMatchObject({ owner: 'acme', name: 'site', private: false });
    expect(Date.parse(site?.pushedAt ?? '')).toBeGreaterThan(
      Date.parse(repositories[0]?.pushedAt ?? ''),
    );
  });
});
