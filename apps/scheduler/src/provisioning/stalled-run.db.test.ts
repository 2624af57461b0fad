import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { examplePools } from '@paddock/testing/demand-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { bothEnds } from '../scenes/stalled-run.scene.ts';
import {
  useEvidence,
  useSchedulerWorld,
  useStalledRuns,
} from '../scenes/use-scheduler-world.scene.ts';

/** A job that runs until it is cancelled. */
const durationMs = 600_000;

const world = useSchedulerWorld();
const runs = useStalledRuns(world);
const seen = useEvidence(world);
beforeEach(() => world.putPools(examplePools({ pools: [{ runnerGroup: 'Paddock' }] })));
afterEach(async () => {
  for (const { id, status } of (await world.gitHub.truth()).jobs)
    if (status !== 'completed') await world.gitHub.cancelJob(id);
  await waitFor('the jobs to end', async () =>
    (await world.gitHub.truth()).jobs.every(({ status }) => status === 'completed'),
  );
});

/** Calls that are wrong without knowing what runs. */
const deletions = async () => {
  const { calls } = await world.gitHub.report();
  return [
    calls['actions/delete-self-hosted-runner-from-org'] ?? 0,
    world.kube.report().calls['delete pods'] ?? 0,
  ];
};

/**
 * Without the minting of a token: it changes nothing, and in one process, as both runs are here,
 * all callers wait for one token.
 */
const CALLS = [
  { what: 'looking for the pod', side: 'cluster', method: 'GET', path: '/pods/[^/]+$' },
  { what: 'looking for the Secret', side: 'cluster', method: 'GET', path: '/secrets/[^/]+$' },
  { what: 'looking for the runner group', side: 'github', method: 'GET', path: '/runner-groups$' },
  {
    what: 'asking for the JIT config',
    side: 'github',
    method: 'POST',
    path: '/generate-jitconfig$',
  },
  { what: 'creating the Secret', side: 'cluster', method: 'POST', path: '/secrets$' },
  { what: 'creating the pod', side: 'cluster', method: 'POST', path: '/pods$' },
  { what: 'setting the Secret’s owner', side: 'cluster', method: 'PATCH', path: '/secrets/[^/]+$' },
] as const;
const STEPS = bothEnds(CALLS);

describe('a run that stops while its successor does everything, and then continues (C6, D6, P2, P3)', () => {
  test.each(STEPS)('at the $at of $what: one worker, and its job continues', async (call) => {
    const before = await deletions();
    const jobId = await world.queueJob({ durationMs });
    await world.match();
    const goOn = await runs.stallAt(call);
    await runs.takeOver();
    await world.settle();
    const isRunning = async () =>
      (await world.gitHub.truth()).jobs.find(({ id }) => id === jobId)?.status === 'in_progress';
    await waitFor('the job to run', isRunning);

    await goOn();
    await world.settle();
    await seen.expectOneWorker();
    expect(await isRunning()).toBe(true);
    expect(await deletions()).toEqual(before);
    const names = (await seen.registrations()).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    // At the most one registration was begun in vain.
    expect(names.length - 1).toBeLessThanOrEqual((await seen.failures()).length);
    expect((await seen.failures()).every((reason) => reason === 'registration_interrupted')).toBe(
      true,
    );
  });

  test('its successor did not find the pool and ended the row: the pod that it still makes never starts a runner', async () => {
    const jobId = await world.queueJob({ durationMs });
    await world.match();
    const goOn = await runs.stallAt({
      side: 'cluster',
      method: 'POST',
      path: '/pods$',
      at: 'call',
    });
    const [ended] = await seen.alive();
    await world.putPools({ ...world.pools, pools: [] });
    await runs.takeOver();
    await world.putPools(world.pools);
    await world.settle();
    const job = async () => (await world.gitHub.truth()).jobs.find(({ id }) => id === jobId);
    await waitFor('the job to run', async () => (await job())?.status === 'in_progress');

    await goOn();
    await world.settle();
    expect(await seen.failures()).toEqual(['pool_unknown']);
    expect(await seen.alive()).toHaveLength(1);
    const left = (await world.gitHub.truth()).runners.find(({ name }) => name === ended?.pod_name);
    // Registered, and never seen: the Secret went with the row.
    expect(left?.state).toBe('registered');
    expect(seen.secrets()).not.toContain(`runners/${ended?.pod_name}`);
    expect((await job())?.status).toBe('in_progress');
  });
});
