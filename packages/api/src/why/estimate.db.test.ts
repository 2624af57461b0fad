import { expect, test } from '@jest/globals';
import { putJob } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { ask } from '../scenes/ask.scene.ts';
import { putKey } from '../scenes/why.scene.ts';
import { whyJobEndpoint } from './why-job.ts';

const database = useTestDatabase();
/** Asks with the console's rights. */
const why = (job: number) => ask(whyJobEndpoint, database.dbOf('console'), { job: String(job) });

test('an estimate rests on the last workers of the queue that had jobs, and no others (P5)', async () => {
  const job = await putJob(database.db);
  const had = (given: Parameters<typeof putWorker>[1] & { from?: number } = {}) => {
    const { from = 30, ...columns } = given;
    return putWorker(database.db, {
      status: 'completed',
      created_at: minutesAgo(from + 1),
      assigned_at: minutesAgo(from),
      completed_at: minutesAgo(from - 4),
      ...columns,
    });
  };
  for (let n = 0; n < 8; n += 1) await had();
  await had({ status: 'failed' });
  await had({ entity_id: 7, from: 20 });
  await had({ scope_repo_id: 7, from: 20 });
  await had({ k8s_pool: 'big', from: 20 });
  await had({ assigned_at: null });
  await had({ from: 60 * 24 * 31 });
  expect((await why(job.job_id)).estimate).toEqual({
    p50Ms: null,
    p90Ms: null,
    sentence:
      'No estimate: 9 jobs of its queue ended on our workers lately, and fewer than 10 tell nothing.',
  });
  // A warm one had stood ready for an hour.
  await had({ is_warm: true, created_at: minutesAgo(90), running_at: minutesAgo(89) });
  expect((await why(job.job_id)).estimate).toMatchObject({ p50Ms: 60_000, p90Ms: 60_000 });

  await putKey(database.db, job, 'at_pool_cap');
  await putWorker(database.db, {
    status: 'running',
    created_at: minutesAgo(4),
    assigned_at: minutesAgo(3),
  });
  const { estimate } = await why(job.job_id);
  // A minute until the end of its job, and one until the next worker is ready.
  expect(Math.round((estimate?.p50Ms ?? 0) / 1_000)).toBe(120);
  expect(estimate?.sentence).toContain(
    '0 jobs of its queue before it, 1 worker with a job, 0 on the way; its last 10 jobs kept a worker for 4 min',
  );
});
