import { describe, expect, test } from '@jest/globals';
import { useEvidence, useSchedulerWorld } from '../scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld({ kubelet: false });
const seen = useEvidence(world);

const JIT = '/generate-jitconfig$';
const reasons = () =>
  world.db.selectFrom('demand_keys').select(['waiting', 'wait_reason']).execute();

describe('GitHub’s limits (C4, P4)', () => {
  test('one rate-limited answer holds back everybody of the entity, in all services, and at the second that GitHub named all go on (D4)', async () => {
    await world.queueJob();
    await world.match();
    await world.gitHub.failNext({ path: JIT, status: 429, headers: { 'retry-after': '600' } });
    await world.runTasks();
    for (let n = 0; n < 3; n += 1) await world.queueJob();
    await world.match();
    await world.makeDue();
    await world.runTasks();
    expect(await seen.runners()).toEqual([]);
    expect((await world.gitHub.report()).callsAgainstWait).toBe(0);
    expect((await world.workers()).map(({ stop_reason }) => stop_reason)).toEqual(['unwanted']);
    expect(await reasons()).toEqual([{ waiting: 4, wait_reason: 'github_budget' }]);
    await world.settle();
    expect(await seen.runners()).toHaveLength(4);
  });

  test('no more workers are reserved than the budget has registrations, and the key gives the reason (P5)', async () => {
    await world.gitHub.setRateLimit({
      caller: { installationId: world.installationId },
      resource: 'actions_runner_registration',
      remaining: 4,
      resetInMs: 3_600_000,
    });
    await world.queueJob();
    await world.settle();
    for (let n = 0; n < 9; n += 1) await world.queueJob();
    await world.settle();
    expect(await seen.runners()).toHaveLength(4);
    expect(await reasons()).toEqual([{ waiting: 10, wait_reason: 'github_budget' }]);
  });
});
