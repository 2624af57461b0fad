import { expect, test } from '@jest/globals';
import { saveAppIds } from '@paddock/db/instance';
import { examplePools, putJob, putPools } from '@paddock/testing/demand-rows';
import { emptyTables } from '@paddock/testing/empty-tables';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { ask } from '../scenes/ask.scene.ts';
import { APP_IDS, putKey } from '../scenes/why.scene.ts';
import { whyJobEndpoint } from './explain-job.ts';

const database = useTestDatabase();
/** Asks with the console's rights. */
const why = (job: number) => ask(whyJobEndpoint, database.dbOf('console'), { job: String(job) });

test.each([
  [
    'cannot be stopped',
    {
      stopping_at: minutesAgo(9),
      stop_held_by: 'its log cannot be read',
      stop_held_since: minutesAgo(5),
    },
    'its log cannot be read',
  ],
  [
    'is being deleted and does not go',
    { terminating_at: minutesAgo(5) },
    'its pod is being deleted, and is still there',
  ],
] as const)('names a worker that keeps its place and %s (P5)', async (_how, held, because) => {
  await emptyTables(database.db, ['jobs', 'workers', 'demand_keys']);
  await saveAppIds(database.db, APP_IDS);
  await putPools(database.db, examplePools({ pools: [{ maxWorkers: 1 }] }));
  const job = await putJob(database.db);
  const { pod_name: worker } = await putWorker(database.db, {
    ...held,
    running_at: minutesAgo(20),
    status: 'running',
    assigned_at: minutesAgo(20),
  });
  await putWorker(database.db, {
    assigned_at: new Date(),
    stop_held_by: 'a moment',
    stop_held_since: new Date(),
  });
  await putKey(database.db, job, 'at_pool_cap');
  expect(await why(job.job_id)).toMatchObject({
    reason: 'at_pool_cap',
    actor: 'platform',
    sentence: expect.stringMatching(
      new RegExp(`1 of them does not go: ${worker} since .*, because ${because}\\.$`),
    ),
  });
});
