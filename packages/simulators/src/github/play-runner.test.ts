import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { waitFor } from '@paddock/testing/wait-for';
import { startSmallWorld, type SmallWorld } from '../scenes/small-world.scene.ts';
import { callApi, installationAuthorization, registerRunner } from '../scenes/call-api.scene.ts';
import { type RunnerEnd, playRunner } from './play-runner.ts';
import type { RunnerState } from './world.ts';

const LABELS = ['self-hosted', 'linux', 'x64'];

describe('a simulated runner', () => {
  let world: SmallWorld;
  beforeEach(async () => {
    world = await startSmallWorld();
  });
  afterEach(() => world.github.stop());

  const never = new AbortController().signal;

  async function begin(name: string, signal: AbortSignal = never, state: RunnerState = 'idle') {
    const { jitConfig, runnerId } = await registerRunner(world, { name, labels: LABELS });
    const end: Promise<RunnerEnd> = playRunner(jitConfig, signal);
    await waitFor(`the runner ${name} to be ${state}`, async () =>
      (await world.github.truth()).runners.some(
        (each) => each.id === runnerId && each.state === state,
      ),
    );
    return { end, runnerId, jitConfig };
  }

  async function jobOf(id: number) {
    const job = (await world.github.truth()).jobs.find((each) => each.id === id);
    if (job === undefined) throw new Error(`There is no job ${id}.`);
    return job;
  }

  const queueLong = () =>
    world.github.queueJob({ repo: 'acme/api', labels: LABELS, durationMs: 600_000 });
  const runnersNow = async () => (await world.github.truth()).runners;

  const CODED = { ACTIONS_RUNNER_RETURN_VERSION_DEPRECATED_EXIT_CODE: '1' };
  const ENDED = 'An error occurred: Error: Forbidden Runner version v';

  test.each<[string, Record<string, string>, number]>([
    ['2.335.1', CODED, 7],
    ['2.335.1', {}, 0],
    ['2.329.0', CODED, 0],
  ])(
    'of the ended version %s listens and ends without a job; with %j its exit code is %i',
    async (version, env, exitCode) => {
      await world.github.queueJob({ repo: 'acme/api', labels: ['linux'] });
      const { jitConfig } = await registerRunner(world, { name: 'old', labels: LABELS });
      const end = await playRunner(jitConfig, never, undefined, {
        image: `runner:${version}`,
        env,
      });
      expect(end.exitCode).toBe(exitCode);
      expect(end.log).toEqual(
        expect.arrayContaining([
          `Current runner version: '${version}'`,
          expect.stringContaining(': Listening for Jobs'),
          `${ENDED}${version} is deprecated and cannot receive messages.`,
        ]),
      );
      expect((await world.github.truth()).jobs).toMatchObject([{ status: 'queued' }]);
      await waitFor('the old runner to be offline', async () =>
        (await runnersNow()).every(({ state }) => state === 'offline'),
      );
    },
  );

  test('runs one job, with the log of the real runner, and its registration vanishes', async () => {
    const { end } = await begin('worker-1');
    const { id } = await world.github.queueJob({
      repo: 'acme/api',
      labels: ['self-hosted', 'Linux'],
      jobName: 'unit tests',
      durationMs: 5,
    });
    const { exitCode, log } = await end;
    expect(exitCode).toBe(0);
    expect(log.map((line) => line.replace(/^[\d-]+ [\d:]+Z: /, ''))).toEqual([
      '',
      '√ Connected to GitHub',
      '',
      "Current runner version: '2.337.0'",
      'Listening for Jobs',
      'Running job: unit tests',
      'Job unit tests completed with result: Succeeded',
    ]);
    expect(await jobOf(id)).toMatchObject({
      status: 'completed',
      conclusion: 'success',
      runnerName: 'worker-1',
      killed: false,
    });
    expect(await runnersNow()).toEqual([]);
  });

  test('killed during a job makes the job fail after a while', async () => {
    const killed = new AbortController();
    const { id } = await queueLong();
    const { end } = await begin('worker-1', killed.signal, 'busy');
    killed.abort();
    expect((await end).exitCode).toBe(143);
    await waitFor('the job to fail', async () => (await jobOf(id)).status === 'completed');
    expect(await jobOf(id)).toMatchObject({ conclusion: 'failure', killed: true });
    expect(await world.github.report()).toMatchObject({ killed: 1, lost: 0 });
  });

  test('cannot be removed while busy, unless GitHub’s knowledge lags: then its job dies (E5)', async () => {
    const { id } = await queueLong();
    const { end, runnerId } = await begin('worker-1', never, 'busy');
    const authorization = await installationAuthorization(world);
    const path = `/orgs/acme/actions/runners/${runnerId}`;
    const call = (method: string) => callApi(world, method, path, { authorization });
    expect(await call('GET')).toMatchObject({ body: { busy: true, status: 'online' } });
    expect(await call('DELETE')).toMatchObject({ status: 422 });
    await world.github.setRunnerFaults({ busyLies: true });
    expect(await call('GET')).toMatchObject({ body: { busy: false } });
    expect(await call('DELETE')).toMatchObject({ status: 204 });
    await end;
    expect(await jobOf(id)).toMatchObject({ conclusion: 'failure', killed: true });
  });
});
