import { describe, expect, test } from '@jest/globals';
import { clientConfig } from '@paddock/db/connection/connect';
import { findMatchingSettings } from '@paddock/db/instance';
import { noteAway } from '@paddock/db/outages';
import { liftSwitch, setSwitch } from '@paddock/db/switches';
import { createMetrics } from '@paddock/runtime/metrics';
import { impatientReaches } from '@paddock/testing/impatient-reaches';
import { examplePools, putJob } from '@paddock/testing/demand-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { createEvents } from '../events.ts';
import { useMatchingDatabase } from '../scenes/matching.scene.ts';
import { SILENT_LOG } from '@paddock/testing/silent-log';
import { GATE } from '../scenes/settings.scene.ts';
import { runMatching } from './match-loop.ts';

const testDb = useMatchingDatabase(examplePools());
const workers = () => testDb.db.selectFrom('workers').selectAll().orderBy('pod_name').execute();
const reason = async () =>
  (await testDb.db.selectFrom('demand_keys').select('wait_reason').executeTakeFirst())?.wait_reason;
/** Why GitHub does not answer; undefined: it does. */
let silence: string | undefined;
const probes = {
  github: () => Promise.resolve(silence),
  cluster: () => Promise.resolve(undefined),
};
const findSettings = () => findMatchingSettings(testDb.db);

function start(tickMs: number): () => Promise<void> {
  const stop = new AbortController();
  const config = clientConfig({
    url: testDb.url,
    schema: testDb.schema,
    applicationName: 'paddock-test',
  });
  const events = createEvents(SILENT_LOG, createMetrics());
  const ended = runMatching(
    {
      db: testDb.db,
      config,
      schema: testDb.schema,
      tickMs,
      forgottenAfterMs: 60_000,
      settings: GATE,
      events,
      reach: impatientReaches(testDb.db, probes),
      pods: { before: (pass) => pass(true) },
    },
    stop.signal,
  );
  return async () => {
    stop.abort();
    await ended;
  };
}

const listening = () =>
  waitFor('the listener', async () => {
    const { rows } =
      await sql`select from pg_stat_activity where query like 'listen %' and datname = current_database()`.execute(
        testDb.db,
      );
    return rows.length > 0;
  });

describe('runMatching', () => {
  test('keeps its Apps for people who ask why a job waits (P5)', async () => {
    const stop = start(600_000);
    expect(await waitFor('the settings', findSettings)).toMatchObject({ appIds: GATE.appIds });
    await stop();
  });

  test('makes a worker at once for a job that is announced, long before the tick (A7, C1)', async () => {
    const stop = start(600_000);
    await listening();
    await putJob(testDb.db);
    const made = await waitFor('the worker', async () => (await workers())[0]);
    expect(made.status).toBe('pending');
    await stop();
  });

  test('asks its own probe about an outage that another process noted, and goes on at once if that is answered', async () => {
    silence = undefined;
    await noteAway(testDb.db, 'github', 'only that process is cut off');
    await putJob(testDb.db);
    const stop = start(600_000);
    await waitFor('the worker', async () => (await workers())[0]);
    expect(await testDb.db.selectFrom('outages').selectAll().execute()).toEqual([]);
    await stop();
  });

  test('leaves the row of an outage that its own probe confirms, and makes no worker', async () => {
    silence = 'no answer';
    await noteAway(testDb.db, 'github', 'no answer');
    await putJob(testDb.db);
    const stop = start(600_000);
    const seen = await waitFor('the reason', async () => (await reason()) ?? undefined);
    await stop();
    expect([seen, await workers()]).toEqual(['github_unavailable', []]);
    expect(await testDb.db.selectFrom('outages').selectAll().execute()).toHaveLength(1);
  });

  test('obeys a stop, and makes the worker at once when the stop ends, long before the tick (A7, C12)', async () => {
    await setSwitch(testDb.db, 'environment', 'ada');
    const stop = start(600_000);
    await listening();
    await putJob(testDb.db);
    await waitFor('the reason', async () => (await reason()) === 'making_stopped');
    await liftSwitch(testDb.db, 'environment');
    const made = await waitFor('the worker', async () => (await workers())[0]);
    expect(made.status).toBe('pending');
    await stop();
  });

  test('makes it by the tick when no notification comes (C1)', async () => {
    await sql`alter table jobs disable trigger jobs_inserted`.execute(testDb.db);
    const stop = start(50);
    await putJob(testDb.db);
    const made = await waitFor('the worker', async () => (await workers())[0]);
    expect(made.status).toBe('pending');
    await stop();
    await sql`alter table jobs enable trigger jobs_inserted`.execute(testDb.db);
  });
});
