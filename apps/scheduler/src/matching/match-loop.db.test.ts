import { describe, expect, test } from '@jest/globals';
import { createWaits } from '@paddock/db/breakers/waits';
import { clientConfig } from '@paddock/db/connection/connect';
import { findMatchingSettings } from '@paddock/db/matching/stored-settings';
import { resumeMaking, stopMaking } from '@paddock/db/matching/stopped-making';
import { createMetrics } from '@paddock/runtime/metrics';
import { examplePools, putJob } from '@paddock/testing/demand-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { createEvents } from '../events.ts';
import { matchOnce, useMatchingDatabase } from '../scenes/matching.scene.ts';
import { SILENT_LOG } from '@paddock/testing/silent-log';
import { GATE } from '../scenes/settings.scene.ts';
import { runMatching } from './match-loop.ts';

const testDb = useMatchingDatabase(examplePools());
const workers = () => testDb.db.selectFrom('workers').selectAll().orderBy('pod_name').execute();
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
      onProbed: () => undefined,
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
  test('keeps its settings for people who ask why a job waits (P5)', async () => {
    const stop = start(600_000);
    expect(await waitFor('the settings', findSettings)).toEqual(GATE);
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

  test('obeys a stop, and makes the worker at once when the stop ends, long before the tick (A7, C12)', async () => {
    const everything = { type: 'environment' } as const;
    await stopMaking(testDb.db, everything, 'ada');
    const stop = start(600_000);
    await listening();
    await putJob(testDb.db);
    await waitFor('the reason', async () => {
      const key = await testDb.db
        .selectFrom('demand_keys')
        .select('wait_reason')
        .executeTakeFirst();
      return key?.wait_reason === 'making_stopped';
    });
    await resumeMaking(testDb.db, everything);
    const made = await waitFor('the worker', async () => (await workers())[0]);
    expect(made.status).toBe('pending');
    await stop();
  });

  test('makes the worker when a pause is over that GitHub asked for, long before the tick (C1, C11)', async () => {
    const { entity_id: entityId } = await putJob(testDb.db);
    const waits = createWaits(testDb.db, () => undefined);
    await waits.note({ entityId }, { ms: 3_600_000, message: 'slow down' });
    expect((await matchOnce(testDb.db)).reserved).toEqual([]);
    const key = testDb.db.selectFrom('demand_keys').select('wait_reason');
    expect(await key.execute()).toEqual([{ wait_reason: 'github_budget' }]);
    // Long enough for the first pass to meet it, unless the machine is very busy.
    const inASecond = sql<Date>`now() + interval '1 second'`;
    await testDb.db.updateTable('breakers').set({ paused_until: inASecond }).execute();
    const stop = start(600_000);
    const made = await waitFor('the worker', async () => (await workers())[0]);
    expect(made.status).toBe('pending');
    await stop();
    await testDb.db.deleteFrom('breakers').execute();
  });

  test('makes more at once when a node takes a worker that none took before (A7, C4)', async () => {
    const hour = sql<Date>`now() - interval '1 hour'`;
    for (let n = 0; n < 3; n += 1) await putJob(testDb.db);
    await matchOnce(testDb.db);
    const full = { registration_started_at: hour, unschedulable_at: hour, created_at: hour };
    await testDb.db.updateTable('workers').set(full).execute();
    for (let n = 0; n < 3; n += 1) await putJob(testDb.db);
    const stop = start(600_000);
    await listening();
    await waitFor('the trial', async () => (await workers()).length === 4);
    await testDb.db.updateTable('workers').set({ unschedulable_at: null }).execute();
    await waitFor('the others', async () => (await workers()).length === 6);
    expect((await workers()).map(({ status }) => status)).toEqual(
      Array.from({ length: 6 }, () => 'pending'),
    );
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
