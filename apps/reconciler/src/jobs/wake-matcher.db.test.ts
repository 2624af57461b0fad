import { clientConfig } from '@paddock/db/connection/connect';
import { endJoblessGraces } from '@paddock/db/jobs/jobs-to-look-up';
import { listen } from '@paddock/db/connection/listen';
import { recoverJobs } from '@paddock/db/jobs/stuck-jobs';
import { createTestDatabase, type TestDatabase } from '@paddock/testing/database';
import { putJob } from '@paddock/testing/demand-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

let database: TestDatabase;
let heard: (string | undefined)[];
let listening: Promise<void>;
const stop = new AbortController();

beforeAll(async () => {
  database = await createTestDatabase();
  const { url, schema } = database;
  heard = [];
  listening = listen(
    {
      config: clientConfig({ url, schema, applicationName: 'paddock-test' }),
      channels: [`${schema}_queue_event`],
      onWake: (_channel, payload) => void heard.push(payload),
      onError: () => undefined,
    },
    stop.signal,
  );
  await waitFor('the listener', () => heard.length > 0);
});
afterAll(async () => {
  stop.abort();
  await listening;
  await database.drop();
});

test('a recovered job and an explained end wake the matcher (E3, C3, A7)', async () => {
  const {
    job_id: jobId,
    revision,
    status,
  } = await putJob(database.db, { looked_up_at: new Date(Date.now() + 60_000) });
  await waitFor('the job’s own notification', () => heard.includes('jobs'));
  heard = [];
  expect(
    await recoverJobs(database.db, [{ jobId, revision, status, doubt: 'unserved', isLost: false }]),
  ).toEqual([jobId]);
  await waitFor('the matcher to be woken', () => heard.includes('jobs'));

  const ended = {
    status: 'completed',
    completed_at: minutesAgo(0),
    unexplained_until: minutesAgo(-10),
  } as const;
  const { pod_name: name } = await putWorker(database.db, ended);
  heard = [];
  const answered = await database.db.transaction().execute((trx) => endJoblessGraces(trx, 10));
  expect(answered.map(({ podName }) => podName)).toEqual([name]);
  await waitFor('the matcher to be woken again', () => heard.includes('workers'));
});
