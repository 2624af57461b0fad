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

const callsForDeliveries = async () => {
  const { calls } = await system.github.report();
  return (calls['apps/get-webhook-delivery'] ?? 0) + (calls['apps/list-webhook-deliveries'] ?? 0);
};

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
  const runners = (await system.github.truth()).jobs.map(({ runnerName }) => runnerName);
  expect(new Set(runners).size).toBe(200);
});
