import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { playRunner } from '@paddock/simulators/github/play-runner';
import { type SmallWorld, startSmallWorld } from '@paddock/simulators/scenes/small-world.scene';
import { waitFor } from '@paddock/testing/wait-for';
import type { GitHub, InstallationClient } from './connect.ts';
import { classifyGitHubError } from './errors.ts';
import { findRun, listRunJobs, listRunJobsIfChanged, listRuns } from './jobs.ts';
import type { ListIfChanged } from './read-pages.ts';
import { findRepository, findRepositoryByName, listRepositories } from './repositories.ts';
import { findVersionEnd } from './runners.ts';
import { createJitConfig, deleteRunner, findRunner, getRunner, listRunners } from './runners.ts';
import { connectSmallWorld } from './scenes/connect-small-world.scene.ts';
import type { RegistrationScope } from './scope.ts';

const SCOPES: RegistrationScope[] = [
  { kind: 'organization', owner: 'acme' },
  { kind: 'repository', owner: 'acme', repo: 'api' },
];
const LABELS = ['self-hosted', 'linux', 'x64'];
const jit = (name: string) => ({ name, labels: LABELS, runnerGroupId: 1 });

describe.each(SCOPES)('runners of a $kind', (scope) => {
  let world: SmallWorld;
  let client: InstallationClient;
  beforeEach(async () => {
    world = await startSmallWorld();
    client = connectSmallWorld(world).asInstallation(world.organization);
  });
  afterEach(() => world.github.stop());

  test('starts a runner with a JIT config, and it runs a job (C6)', async () => {
    const { runnerId, jitConfig } = await createJitConfig(client, scope, jit('worker-1'));
    expect(await getRunner(client, scope, runnerId)).toEqual({
      id: runnerId,
      name: 'worker-1',
      online: false,
      busy: false,
    });
    await world.github.queueJob({ repo: 'acme/api', labels: ['linux'], durationMs: 1 });
    expect((await playRunner(jitConfig, new AbortController().signal)).exitCode).toBe(0);
    expect(await getRunner(client, scope, runnerId)).toBeUndefined();
    expect((await world.github.report()).completed).toBe(1);
  });

  test('reports a taken name as a conflict, and the existing registration stays (C6)', async () => {
    const { runnerId } = await createJitConfig(client, scope, jit('worker-1'));
    const failure = await createJitConfig(client, scope, jit('worker-1')).catch(
      classifyGitHubError,
    );
    expect(failure).toMatchObject({ kind: 'conflict', status: 409 });
    expect(await listRunners(client, scope)).toMatchObject([{ id: runnerId }]);
  });

  test.each([
    ['id', { encoded_jit_config: 'secret' }],
    ['JIT config', { runner: { id: 1 } }],
    ['JIT config', ['something else']],
  ])(
    'reports an answer without the %s in a sentence that quotes nothing of it (C6, H1)',
    async (what, body) => {
      await world.github.failNext({
        method: 'POST',
        path: 'generate-jitconfig$',
        status: 201,
        body,
      });
      const sentence = `GitHub registered the runner worker-1 in ${scope.kind === 'organization' ? 'acme' : 'acme/api'}, but its answer lacks the ${what}.`;
      await expect(createJitConfig(client, scope, jit('worker-1'))).rejects.toThrow(sentence);
    },
  );

  test('a lost answer after the registration leaves a registration behind (C6)', async () => {
    await world.github.failNext({ path: 'generate-jitconfig$', afterCommit: true });
    expect(
      await createJitConfig(client, scope, jit('worker-1')).catch(classifyGitHubError),
    ).toMatchObject({ kind: 'network' });
    expect(await findRunner(client, scope, 'worker-1')).toMatchObject({ name: 'worker-1' });
  });

  test('finds runners by their exact name', async () => {
    for (const name of ['worker-7', 'worker-77']) await createJitConfig(client, scope, jit(name));
    expect(await findRunner(client, scope, 'worker-7')).toMatchObject({ name: 'worker-7' });
    expect(await findRunner(client, scope, 'worker')).toBeUndefined();
  });

  test('finds a runner whose name comes back in another case and with spaces (E5)', async () => {
    const runners = [
      { id: 7, name: ' PDK-abc123-Linux-0123456789AB ', status: 'online', busy: true, labels: [] },
    ];
    await world.github.failNext({
      method: 'GET',
      path: '/actions/runners$',
      status: 200,
      body: { total_count: 1, runners },
    });
    expect(await findRunner(client, scope, 'pdk-abc123-linux-0123456789ab')).toMatchObject({
      id: 7,
      busy: true,
    });
  });

  test('deletes an idle runner, which is absent then', async () => {
    const { runnerId } = await createJitConfig(client, scope, jit('worker-1'));
    expect(await deleteRunner(client, scope, runnerId)).toBe('deleted');
    expect(await deleteRunner(client, scope, runnerId)).toBe('absent');
  });

  test('leaves a busy runner alone (E5)', async () => {
    const killed = new AbortController();
    const { runnerId, jitConfig } = await createJitConfig(client, scope, jit('worker-1'));
    await world.github.queueJob({ repo: 'acme/api', labels: ['linux'], durationMs: 600_000 });
    const end = playRunner(jitConfig, killed.signal);
    const busy = await waitFor('a busy runner', async () => {
      const runner = await getRunner(client, scope, runnerId);
      return runner?.busy === true ? runner : undefined;
    });
    expect(busy).toMatchObject({ online: true });
    expect(await deleteRunner(client, scope, runnerId)).toBe('busy');
    killed.abort();
    await end;
  });

  test('throws other failures of a deletion', async () => {
    await world.github.failNext({ method: 'DELETE', path: '.', status: 500 });
    expect(await deleteRunner(client, scope, 1).catch(classifyGitHubError)).toMatchObject({
      kind: 'unavailable',
    });
  });
});

test('does not find a runner that the installation cannot see', async () => {
  const world = await startSmallWorld();
  const client = connectSmallWorld(world).asInstallation(world.organization);
  const scope = { kind: 'repository', owner: 'mona', repo: 'tool' } as const;
  expect(await createJitConfig(client, scope, jit('x')).catch(classifyGitHubError)).toMatchObject({
    kind: 'not_found',
  });
  await world.github.stop();
});

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

const ACME = { kind: 'organization', owner: 'acme' } as const;
const AT_API = { kind: 'repository', owner: 'acme', repo: 'api' } as const;

describe('the end of a version of the runner', () => {
  let world: SmallWorld;
  let client: InstallationClient;
  beforeAll(async () => {
    world = await startSmallWorld();
    client = connectSmallWorld(world).asInstallation(world.organization);
    await world.github.setRunnerVersion('2.340.0', '2027-03-01T12:00:00Z');
    await world.github.setRunnerVersion('2.341.0', 'soon');
  });
  afterAll(() => world.github.stop());

  test.each([ACME, AT_API])('is GitHub’s answer to $kind', async (scope) => {
    expect(await findVersionEnd(client, scope, '2.340.0')).toEqual({
      endsAt: new Date('2027-03-01T12:00:00Z'),
    });
    expect(await findVersionEnd(client, scope, '2.337.0')).toEqual({ endsAt: null });
  });

  test('is unknown where GitHub does not know the version, and null where GitHub has set no instant', async () => {
    expect(await findVersionEnd(client, ACME, '9.9.9')).toBeUndefined();
    expect(await findVersionEnd(client, ACME, '2.341.0')).toEqual({ endsAt: null });
  });

  test('is not taken as unknown when GitHub refuses or is unavailable', async () => {
    await world.github.failNext({ path: 'deprecations', status: 403 });
    expect(await findVersionEnd(client, ACME, '2.340.0').catch(classifyGitHubError)).toMatchObject({
      kind: 'forbidden',
    });
  });
});
