import { expect, test } from '@jest/globals';
import { putJob } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { ask } from '../scenes/ask.scene.ts';
import { whyJobEndpoint } from './explain-job.ts';

const database = useTestDatabase();
/** Asks with the console's rights. */
const why = (job: number) => ask(whyJobEndpoint, database.dbOf('console'), { job: String(job) });

test('the median rests on the last jobs of the queue that our workers ran, and no others (P5)', async () => {
  const job = await putJob(database.db);
  expect((await why(job.job_id)).lastStarts).toBeNull();

  /** A job that waited for so many minutes, and the worker that ran it. */
  const started = async (
    waited: number,
    given: Parameters<typeof putWorker>[1] & { from?: number } = {},
  ) => {
    const { from = 30, ...columns } = given;
    const { job_id } = await putJob(database.db, {
      status: 'completed',
      wants_worker: false,
      queued_at: new Date(Date.UTC(2026, 0, 31, 9)),
      started_at: new Date(Date.UTC(2026, 0, 31, 9, waited)),
    });
    await putWorker(database.db, {
      status: 'completed',
      created_at: minutesAgo(from + 1),
      assigned_at: minutesAgo(from),
      completed_at: minutesAgo(from - 4),
      assigned_job_id: job_id,
      ...columns,
    });
  };
  await started(2);
  await started(9);
  await started(4, { status: 'running', completed_at: null });
  await started(50, { entity_id: 7 });
  await started(50, { scope_repo_id: 7 });
  await started(50, { k8s_pool: 'big' });
  await started(50, { assigned_at: null, assigned_job_id: null });
  await started(50, { from: 60 * 24 * 31 });
  expect((await why(job.job_id)).lastStarts).toEqual({ jobs: 3, medianMs: 4 * 60_000 });

  for (let n = 0; n < 50; n += 1) await started(1, { from: 20 });
  expect((await why(job.job_id)).lastStarts).toEqual({ jobs: 50, medianMs: 60_000 });
});
