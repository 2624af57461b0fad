import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { waitFor } from '@paddock/testing/wait-for';
import { bothEnds, CALLS } from '../scenes/stalled-run.scene.ts';
import {
  useEvidence,
  useSchedulerWorld,
  useStalledRuns,
} from '../scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld();
const runs = useStalledRuns(world);
const seen = useEvidence(world);
beforeEach(() => world.putPools({ pools: [{ runnerGroup: 'Paddock' }] }));
afterEach(() => world.cancelAll());

/** A job that runs until it is cancelled. */
const startJob = async () => {
  const jobId = await world.queueJob({ durationMs: 600_000 });
  await world.match();
  const status = async () =>
    (await world.gitHub.truth()).jobs.find(({ id }) => id === jobId)?.status;
  const isRunning = async () => (await status()) === 'in_progress';
  return { isRunning, untilItRuns: () => waitFor('the job to run', isRunning) };
};

/** Calls that are wrong without knowing what runs. */
const deletions = async () => {
  const calls = await world.calls();
  return [calls['actions/delete-self-hosted-runner-from-org'], calls['delete pods']];
};

const GROUP = {
  what: 'looking for the runner group',
  side: 'github',
  method: 'GET',
  path: '/runner-groups$',
} as const;

describe('a run that stops while its successor does everything, and then continues (C6, D6, P2, P3)', () => {
  test.each(bothEnds([...CALLS, GROUP]))(
    'at the $at of $what: one worker, and its job continues',
    async (call) => {
      const before = await deletions();
      const job = await startJob();
      const goOn = await runs.stallAt(call);
      await runs.takeOver();
      await world.settle();
      await job.untilItRuns();

      await goOn();
      await world.settle();
      await seen.expectOneWorker();
      expect(await job.isRunning()).toBe(true);
      expect(await deletions()).toEqual(before);
      const names = (await seen.registrations()).map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
      // At the most one registration was begun in vain.
      const failures = await seen.failures();
      expect(names.length - 1).toBeLessThanOrEqual(failures.length);
      expect(failures).toEqual(failures.map(() => 'registration_interrupted'));
    },
  );

  test('its successor did not find the pool and ended the row: the pod that it still makes never starts a runner', async () => {
    const job = await startJob();
    const creation = { side: 'cluster', method: 'POST', path: '/pods$', at: 'call' } as const;
    const goOn = await runs.stallAt(creation);
    const [ended] = await world.alive();
    await world.putPools({ ...world.pools, pools: [] });
    await runs.takeOver();
    await world.putPools(world.pools);
    await world.settle();
    await job.untilItRuns();

    await goOn();
    await world.settle();
    expect(await seen.failures()).toEqual(['pool_unknown']);
    expect(await world.alive()).toHaveLength(1);
    const left = (await world.gitHub.truth()).runners.find(({ name }) => name === ended?.pod_name);
    // Registered, and never seen: the Secret went with the row.
    expect(left?.state).toBe('registered');
    expect(seen.secrets()).not.toContain(`runners/${ended?.pod_name}`);
    expect(await job.isRunning()).toBe(true);
  });
});
