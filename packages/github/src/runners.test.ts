import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { playRunner } from '@paddock/simulators/github/play-runner';
import { startSmallWorld, type SmallWorld } from '@paddock/simulators/scenes/small-world.scene';
import { waitFor } from '@paddock/testing/wait-for';
import type { InstallationClient } from './connect.ts';
import { classifyGitHubError } from './errors.ts';
import { createJitConfig, deleteRunner, findRunner, getRunner, listRunners } from './runners.ts';
import { describeScope, type RegistrationScope } from './scope.ts';
import { connectSmallWorld } from './scenes/connect-small-world.scene.ts';

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
    const { runnerId, jitConfig } = await createJitConfig(client, scope, {
      ...jit('worker-1'),
      workFolder: '/work',
    });
    expect(await getRunner(client, scope, runnerId)).toEqual({
      id: runnerId,
      name: 'worker-1',
      online: false,
      busy: false,
      labels: LABELS,
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
      const sentence = `GitHub registered the runner worker-1 in ${describeScope(scope)}, but its answer lacks the ${what}.`;
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

  test('finds runners by their exact name, and lists them over all pages', async () => {
    const names = Array.from({ length: 101 }, (_each, index) => `worker-${index}`);
    for (const name of names) await createJitConfig(client, scope, jit(name));
    expect((await listRunners(client, scope)).map(({ name }) => name).toSorted()).toEqual(
      names.toSorted(),
    );
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

  test('reports labels that GitHub refuses as invalid', async () => {
    expect(
      await createJitConfig(client, scope, { ...jit('x'), labels: [] }).catch(classifyGitHubError),
    ).toMatchObject({ kind: 'invalid' });
  });
});

test('describes the scope as people write it', () => {
  expect(SCOPES.map(describeScope)).toEqual(['acme', 'acme/api']);
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
