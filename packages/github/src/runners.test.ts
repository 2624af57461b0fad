import { describe, expect, test } from '@jest/globals';
import { playRunner } from '@paddock/simulators/github/play-runner';
import { waitFor } from '@paddock/testing/wait-for';
import { findRun, listRunJobs, listRunJobsIfChanged, listRuns } from './jobs.ts';
import type { ListIfChanged } from './read-answers.ts';
import { findRepository, findRepositoryByName, listRepositories } from './repositories.ts';
import {
  createJitConfig,
  deleteRunner,
  findRunner,
  findVersionEnd,
  getRunner,
  listRunners,
  type RegistrationScope,
} from './runners.ts';
import { ACME, API, TOOL, failureOf, jit, useSmallWorld } from './scenes/small-world.scene.ts';

const SCOPES: RegistrationScope[] = [ACME, { kind: 'repository', ...API }];

describe.each(SCOPES)('runners of a $kind', (scope) => {
  const small = useSmallWorld();

  test('starts a runner with a JIT config, and it runs a job (C6)', async () => {
    const { runnerId, jitConfig } = await createJitConfig(small.client, scope, jit());
    expect(await getRunner(small.client, scope, runnerId)).toEqual({
      id: runnerId,
      name: 'worker-1',
      online: false,
      busy: false,
    });
    await small.simulator.queueJob({ repo: 'acme/api', labels: ['linux'], durationMs: 1 });
    expect((await playRunner(jitConfig, new AbortController().signal)).exitCode).toBe(0);
    expect(await getRunner(small.client, scope, runnerId)).toBeUndefined();
    expect((await small.simulator.report()).completed).toBe(1);
  });

  test('reports a taken name as a conflict, and the existing registration stays (C6)', async () => {
    const { runnerId } = await createJitConfig(small.client, scope, jit());
    const failure = await failureOf(createJitConfig(small.client, scope, jit()));
    expect(failure).toMatchObject({ kind: 'conflict', status: 409 });
    expect(await listRunners(small.client, scope)).toMatchObject([{ id: runnerId }]);
  });

  test.each([
    ['id', { encoded_jit_config: 'secret' }],
    ['id', { runner: { id: 1.5 }, encoded_jit_config: 'secret' }],
    ['JIT config', { runner: { id: 1 } }],
    ['JIT config', ['something else']],
  ])(
    'says of an answer that it lacks the %s, and quotes nothing of it (C6, H1)',
    async (what, body) => {
      await small.simulator.failNext({ path: 'generate-jitconfig$', status: 201, body });
      const where = scope.kind === 'organization' ? 'acme' : 'acme/api';
      await expect(createJitConfig(small.client, scope, jit())).rejects.toThrow(
        `GitHub registered the runner worker-1 in ${where}, but its answer lacks the ${what}.`,
      );
    },
  );

  test('a lost answer after the registration leaves a registration behind (C6)', async () => {
    await small.simulator.failNext({ path: 'generate-jitconfig$', afterCommit: true });
    const failure = await failureOf(createJitConfig(small.client, scope, jit()));
    expect(failure).toMatchObject({ kind: 'network' });
    expect(await findRunner(small.client, scope, 'worker-1')).toMatchObject({ name: 'worker-1' });
  });

  test('finds runners by their exact name', async () => {
    for (const name of ['worker-7', 'worker-77'])
      await createJitConfig(small.client, scope, jit(name));
    expect(await findRunner(small.client, scope, 'worker-7')).toMatchObject({ name: 'worker-7' });
    expect(await findRunner(small.client, scope, 'worker')).toBeUndefined();
  });

  test('finds a runner whose name comes back in another case and with spaces (E5)', async () => {
    const name = ' PDK-abc123-Linux-0123456789AB ';
    const runners = [{ id: 7, name, status: 'online', busy: true, labels: [] }];
    const body = { total_count: 1, runners };
    await small.simulator.failNext({ path: '/actions/runners$', status: 200, body });
    const found = await findRunner(small.client, scope, 'pdk-abc123-linux-0123456789ab');
    expect(found).toMatchObject({ id: 7, busy: true });
  });

  test('deletes an idle runner, which is absent then', async () => {
    const { runnerId } = await createJitConfig(small.client, scope, jit());
    expect(await deleteRunner(small.client, scope, runnerId)).toBe('deleted');
    expect(await deleteRunner(small.client, scope, runnerId)).toBe('absent');
  });

  test('leaves a busy runner alone (E5)', async () => {
    const killed = new AbortController();
    const { runnerId, jitConfig } = await createJitConfig(small.client, scope, jit());
    await small.simulator.queueJob({ repo: 'acme/api', labels: ['linux'], durationMs: 600_000 });
    const end = playRunner(jitConfig, killed.signal);
    const busy = await waitFor('a busy runner', async () => {
      const runner = await getRunner(small.client, scope, runnerId);
      return runner?.busy === true ? runner : undefined;
    });
    expect(busy).toMatchObject({ online: true });
    expect(await deleteRunner(small.client, scope, runnerId)).toBe('busy');
    killed.abort();
    await end;
  });

  test('does not find a runner that the installation cannot see', async () => {
    expect(await failureOf(createJitConfig(small.client, TOOL, jit()))).toMatchObject({
      kind: 'not_found',
    });
  });

  test('throws other failures of a deletion', async () => {
    await small.simulator.failNext({ method: 'DELETE', path: '.', status: 500 });
    expect(await failureOf(deleteRunner(small.client, scope, 1))).toMatchObject({
      kind: 'unavailable',
    });
  });
});

const etagsOf = (list: ListIfChanged<unknown> | undefined): readonly string[] =>
  list?.kind === 'changed' ? list.etags : [];

describe('what GitHub knows of jobs (E4)', () => {
  const small = useSmallWorld(undefined, () => ({ apiUrl: `${small.simulator.url}/api/v3` }));
  const jobOf = async (runId: number, id: number) =>
    (await listRunJobs(small.client, API, runId))?.find((job) => job.id === id);

  test('shows a queued job, and its run', async () => {
    const labels = ['self-hosted', 'gpu'];
    const given = { labels, jobName: 'train', workflowName: 'Nightly' };
    const { id, runId } = await small.queue(given);
    const queued = { status: 'queued', conclusion: null };
    expect(await jobOf(runId, id)).toMatchObject({
      ...queued,
      id,
      runId,
      runAttempt: 1,
      name: 'train',
      workflowName: 'Nightly',
      labels,
      runnerName: null,
    });
    const run = await findRun(small.client, API, runId);
    expect(run).toMatchObject({ ...queued, id: runId, attempt: 1 });
  });

  test('names the runner of a completed job', async () => {
    const { id, runId } = await small.queue({ hosted: true, durationMs: 1 });
    await waitFor('the job to end', async () => (await jobOf(runId, id))?.status === 'completed');
    const runnerName = expect.stringMatching(/^GitHub Actions \d+$/);
    expect(await jobOf(runId, id)).toMatchObject({ conclusion: 'success', runnerName });
    const run = await findRun(small.client, API, runId);
    expect(run).toMatchObject({ status: 'completed', conclusion: 'success' });
  });

  test('is undefined where GitHub answers 404', async () => {
    expect(await findRun(small.client, API, 1)).toBeUndefined();
    expect(await listRunJobs(small.client, API, 1)).toBeUndefined();
    expect(await listRunJobs(small.client, { owner: 'acme', repo: 'gone' }, 1)).toBeUndefined();
  });

  test('a failing GitHub does not look like an absence', async () => {
    await small.simulator.failNext({ path: '/runs/1$', status: 502 });
    expect(await failureOf(findRun(small.client, API, 1))).toMatchObject({ kind: 'unavailable' });
  });

  test('lists a run’s jobs from all pages and all attempts', async () => {
    const first = await small.queue();
    await small.queueMany(100, { runId: first.runId });
    await small.simulator.cancelJob(first.id);
    const again = await small.simulator.rerunJob(first.id);
    const jobs = await listRunJobs(small.client, API, first.runId);
    expect(jobs).toHaveLength(102);
    expect(jobs?.filter(({ id }) => id === first.id || id === again.id)).toMatchObject([
      { runAttempt: 1, conclusion: 'cancelled' },
      { runAttempt: 2, status: 'queued' },
    ]);
  });

  test('lists runs by status, and an unchanged list costs nothing', async () => {
    const { runId } = await small.queue();
    const list = await listRuns(small.client, API, { status: 'queued' });
    expect(list).toMatchObject({ kind: 'changed', items: [{ id: runId }] });
    const etags = etagsOf(list);
    expect(await listRuns(small.client, API, { status: 'queued', etags })).toEqual({
      kind: 'unchanged',
    });
    await small.queue();
    expect(await listRuns(small.client, API, { status: 'queued', etags })).toMatchObject({
      kind: 'changed',
      items: [{}, { id: runId }],
    });
    expect(await listRuns(small.client, API, { status: 'completed' })).toMatchObject({ items: [] });
  });

  test('a run’s jobs cost nothing until one of their pages changes, and a change on the last page is seen (E2)', async () => {
    const { runId } = await small.queue();
    await small.queueMany(100, { runId });
    const { id: last } = await small.queue({ runId, waiting: true });
    const ask = (etags: readonly string[]) =>
      listRunJobsIfChanged(small.client, API, { runId, etags });
    const etags = etagsOf(await ask([]));
    expect(etags).toHaveLength(2);
    const remaining = () =>
      small.github.budgetOf(small.world.organization.installationId)?.remaining ?? NaN;
    const before = remaining();
    expect(await ask(etags)).toEqual({ kind: 'unchanged' });
    expect(remaining()).toBe(before);
    await small.simulator.approveJob(last);
    const changed = await ask(etags);
    const jobs = changed?.kind === 'changed' ? changed.items : [];
    expect(jobs).toHaveLength(102);
    expect(jobs.at(-1)).toMatchObject({ id: last, status: 'queued' });
    expect(await ask(etagsOf(changed))).toEqual({ kind: 'unchanged' });
  });

  test('follows a renamed repository, and knows it by its id (A12)', async () => {
    const { id, runId } = await small.queue();
    await small.simulator.renameRepository('acme/api', 'backend');
    expect(await jobOf(runId, id)).toMatchObject({ id });
    const backend = {
      id: small.world.repositories.api,
      owner: 'acme',
      name: 'backend',
      private: true,
      pushedAt: expect.any(String),
      canRun: true,
    };
    expect(await findRepository(small.client, small.world.repositories.api)).toEqual(backend);
    expect(await findRepositoryByName(small.client, API)).toEqual(backend);
    expect(await findRepository(small.client, small.world.repositories.tool)).toBeUndefined();
    expect(await findRepositoryByName(small.client, TOOL)).toBeUndefined();
  });

  test('lists an installation’s repositories from all pages, with the instant of their last push (E2)', async () => {
    for (let index = 0; index < 100; index++)
      await small.simulator.addRepository({ owner: 'acme', name: `part-${index}` });
    await small.simulator.queueJob({ repo: 'acme/site', labels: ['none'] });
    const repositories = await listRepositories(small.client);
    expect(repositories).toHaveLength(102);
    const site = repositories.find(({ id }) => id === small.world.repositories.site);
    expect(site).toMatchObject({ owner: 'acme', name: 'site', private: false });
    expect(Date.parse(site?.pushedAt ?? '')).toBeGreaterThan(
      Date.parse(repositories[0]?.pushedAt ?? ''),
    );
  });
});

describe('the end of a version of the runner', () => {
  const small = useSmallWorld();
  const endOf = (version: string, scope: RegistrationScope = ACME) =>
    findVersionEnd(small.client, scope, version);

  test.each(SCOPES)('is GitHub’s answer to $kind', async (scope) => {
    await small.simulator.setRunnerVersion('2.340.0', '2027-03-01T12:00:00Z');
    expect(await endOf('2.340.0', scope)).toEqual({ endsAt: new Date('2027-03-01T12:00:00Z') });
    expect(await endOf('2.337.0', scope)).toEqual({ endsAt: null });
  });

  test('is unknown where GitHub does not know the version, and null where GitHub has set no instant', async () => {
    await small.simulator.setRunnerVersion('2.341.0', 'soon');
    expect(await endOf('9.9.9')).toBeUndefined();
    expect(await endOf('2.341.0')).toEqual({ endsAt: null });
  });

  test('is not taken as unknown when GitHub refuses or is unavailable', async () => {
    await small.simulator.failNext({ path: 'deprecations', status: 403 });
    expect(await failureOf(endOf('2.340.0'))).toMatchObject({ kind: 'forbidden' });
  });
});
