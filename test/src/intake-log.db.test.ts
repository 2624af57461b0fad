import { beforeAll, expect, test } from '@jest/globals';
import { setSwitch } from '@paddock/db/switches';
import { metricSum } from '@paddock/testing/metric-sum';
import { waitFor } from '@paddock/testing/wait-for';
import { useSystem } from './start-system.ts';

const RULES = {
  reconciler: { logEveryMs: 100, redeliveryEverySeconds: 1, redeliverySpacingMs: 500 },
  queue: { taskLeaseMs: 1_000, taskBackoffFirstMs: 100 },
};

/** GitHub reaches no endpoint, until a test starts ingress. */
const system = useSystem({ scheduler: {} });
beforeAll(async () => {
  // Nothing else may find a job.
  for (const sweep of ['discover-jobs', 'look-up-jobs'])
    await setSwitch(system.database.db, sweep, 'test');
  await system.start('reconciler', { rules: RULES });
});

/** The sum of a metric over ingress, if it runs, and the reconciler. */
async function shown(name: string): Promise<number> {
  const running = [system.running.get('ingress'), system.running.get('reconciler')];
  const pages = running.map(async (program) => {
    if (program === undefined) return 0;
    const answer = await fetch(`http://127.0.0.1:${program.healthPort}/metrics`);
    return metricSum(await answer.text(), name);
  });
  return (await Promise.all(pages)).reduce((sum, one) => sum + one, 0);
}

/** Waits until the jobs have ended, and says what went wrong. */
async function endOf(ids: readonly number[]): Promise<object> {
  await system.untilJobs(ids, 'completed');
  await system.untilWorkersEnd();
  return system.github.report();
}
/** Every job ran once, on one of our workers. */
const WHOLE = { lost: 0, killed: 0, excessWorkers: 0 };

test('deliveries come from GitHub’s log once the file says so, and nothing restarts', async () => {
  const ids = await system.queueJobs(3, { durationMs: 50 });
  await waitFor('GitHub to be asked for them again', async () => {
    const { calls } = await system.github.report();
    return (calls['apps/redeliver-webhook-delivery'] ?? 0) > 0;
  });
  expect(await system.jobsThat('pending')).toEqual([]);
  await system.configure({ intake: 'log' });
  expect(await endOf(ids)).toMatchObject(WHOLE);
  expect(await shown('paddock_app_calls_remaining')).toBeLessThan(15_000);
});

test('the webhook and the log at once count each job once', async () => {
  await system.start('ingress');
  const before = await shown('paddock_job_run_seconds_count');
  // Some reach ingress, and the log has all.
  await system.github.setDeliveryFaults({ lossRate: 0.5 });
  const ids = await system.queueJobs(20, { durationMs: 50 });
  expect(await endOf(ids)).toMatchObject(WHOLE);
  await system.github.setDeliveryFaults({});
  expect(await shown('paddock_job_run_seconds_count')).toBe(before + 20);
});
