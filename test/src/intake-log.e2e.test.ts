import { beforeAll, expect, test } from '@jest/globals';
import { setSwitch } from '@paddock/db/switches';
import { waitFor } from '@paddock/testing/wait-for';
import { kill, useSystem } from './start-system.ts';

/** Discovery rests, so no delivery may be left to it, and an hour's reads come in minutes. */
const QUICK = {
  reconciler: { logEveryMs: 100, logReadsPerMinute: 900, handOverAbove: 100_000 },
  queue: { taskLeaseMs: 1_000, taskBackoffFirstMs: 100 },
};

/** GitHub reaches no endpoint. */
const system = useSystem();
beforeAll(async () => {
  // Nothing else may find a job.
  for (const sweep of ['discover-jobs', 'look-up-jobs'])
    await setSwitch(system.database.db, sweep, 'test');
  await system.configure({ intake: 'log' }, 100);
  await system.start('scheduler');
});

const callsOf = async (operation: string) =>
  (await system.github.report()).calls[`apps/${operation}`] ?? 0;
const callsForDeliveries = async () =>
  (await callsOf('get-webhook-delivery')) + (await callsOf('list-webhook-deliveries'));

/** A worker may be made in excess for a job that is heard of late: it runs none. */
async function expectEachOnce(many: number): Promise<void> {
  const { jobs } = await system.github.truth();
  expect(new Set(jobs.map(({ runnerName }) => runnerName)).size).toBe(many);
}

test('200 jobs of the log, with the reconciler killed twenty times: none is lost or runs twice', async () => {
  const ids: number[] = [];
  await system.start('reconciler', { rules: QUICK });
  for (let round = 0; round < 20; round += 1) {
    const before = await callsForDeliveries();
    ids.push(...(await system.queueJobs(10, { durationMs: 50 })));
    // At another place in its work each time.
    await waitFor('calls', async () => (await callsForDeliveries()) > before + round * 2);
    await kill(system.running.get('reconciler'));
    await system.start('reconciler', { rules: QUICK });
    if (round % 5 === 4) await system.untilJobs(ids, 'completed');
  }
  await system.untilWorkersEnd();
  expect(await system.github.report()).toMatchObject({
    jobs: 200,
    lost: 0,
    killed: 0,
    callsAgainstWait: 0,
  });
  expect(await system.jobsThat('completed')).toHaveLength(200);
  await expectEachOnce(200);
});

test('no job is lost or runs twice while the reconciler is killed at every call for deliveries', async () => {
  const { github } = system;
  const ids: number[] = [];
  for (const [operation, path] of [
    ['list-webhook-deliveries', '/app/hook/deliveries$'],
    ['get-webhook-delivery', String.raw`/app/hook/deliveries/\d+$`],
  ] as const)
    for (let nth = 0; nth < 6; nth++) {
      const before = await callsOf(operation);
      await github.failNext({ method: 'GET', path, after: nth, hang: true });
      ids.push(...(await system.queueJobs(4, { durationMs: 50 })));
      await waitFor('that call', async () => (await callsOf(operation)) > before + nth);
      await kill(system.running.get('reconciler'));
      await github.clearFaults();
      await system.start('reconciler', { rules: QUICK });
    }
  await system.untilJobs(ids, 'completed');
  await system.untilWorkersEnd();
  expect(await github.report()).toMatchObject({ lost: 0, killed: 0 });
  await expectEachOnce(200 + ids.length);
});
