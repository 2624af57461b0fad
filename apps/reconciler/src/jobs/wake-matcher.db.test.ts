import { clientConfig } from '@paddock/db/connection/connect';
import { endJoblessGraces, markJobsInDoubt } from '@paddock/db/jobs/jobs-in-doubt';
import { listen } from '@paddock/db/connection/listen';
import { createTestDatabase, type TestDatabase } from '@paddock/testing/database';
import { putJob } from '@paddock/testing/demand-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { RULES } from '../scenes/stuck-jobs.scene.ts';
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
  await putJob(database.db, {
    created_at: new Date(Date.now() - 660_000),
    looked_up_at: new Date(Date.now() + 60_000),
  });
  await waitFor('the job’s own notification', () => heard.includes('jobs'));
  heard = [];
  expect(await markJobsInDoubt(database.db, RULES)).toMatchObject([{ isRecovered: true }]);
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
