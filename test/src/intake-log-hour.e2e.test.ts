import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from '@jest/globals';
import { setSwitch } from '@paddock/db/switches';
import { waitFor } from '@paddock/testing/wait-for';
import { kill, useSystem } from './start-system.ts';

/** Discovery rests, so no delivery may be left to it, and the hour's reads come in minutes. */
const QUICK = {
  reconciler: { logEveryMs: 100, logReadsPerMinute: 900, handOverAbove: 100_000 },
  queue: { taskLeaseMs: 1_000, taskBackoffFirstMs: 100 },
};
/** As often as where nobody has said otherwise. */
const USUAL = { reconciler: { logEveryMs: 5_000 } };

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

test('the 600 jobs of an hour, in minutes, with the reconciler killed twenty times: none is lost or runs twice', async () => {
  const ids: number[] = [];
  await system.start('reconciler', { rules: QUICK });
  for (let round = 0; round < 20; round += 1) {
    const before = await callsForDeliveries();
    ids.push(...(await system.queueJobs(30, { durationMs: 50 })));
    // At another place in its work each time.
    await waitFor('calls', async () => (await callsForDeliveries()) > before + round * 2);
    await kill(system.running.get('reconciler'));
    await system.start('reconciler', { rules: QUICK });
    if (round % 5 === 4) await system.untilJobs(ids, 'completed');
  }
  await system.untilWorkersEnd();
  expect(await system.github.report()).toMatchObject({
    jobs: 600,
    lost: 0,
    killed: 0,
    callsAgainstWait: 0,
  });
  expect(await system.jobsThat('completed')).toHaveLength(600);
  const runners = (await system.github.truth()).jobs.map(({ runnerName }) => runnerName);
  expect(new Set(runners).size).toBe(600);
});

test('at the usual pace of the log, a job has its row after 6 s (p50) and 12 s (p99)', async () => {
  await kill(system.running.get('reconciler'));
  await system.start('reconciler', { rules: USUAL });
  const queuedAt = new Map<number, number>();
  for (let nth = 0; nth < 60; nth += 1) {
    const [id = 0] = await system.queueJobs(1, { durationMs: 50 });
    queuedAt.set(id, Date.now());
    await sleep(400);
  }
  await system.untilJobs([...queuedAt.keys()], 'completed');
  const rows = await system.database.db
    .selectFrom('jobs')
    .select(['job_id', 'created_at'])
    .where('job_id', 'in', [...queuedAt.keys()])
    .execute();
  const seconds = rows
    .map((row) => (row.created_at.getTime() - (queuedAt.get(row.job_id) ?? 0)) / 1_000)
    .toSorted((a, b) => a - b);
  expect(seconds).toHaveLength(60);
  expect(seconds[29]).toBeLessThanOrEqual(6);
  expect(seconds[59]).toBeLessThanOrEqual(12);
});
