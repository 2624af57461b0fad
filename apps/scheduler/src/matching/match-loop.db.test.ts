import { afterEach, expect, test } from '@jest/globals';
import { clientConfig } from '@paddock/db/connection/connect';
import { listen } from '@paddock/db/connection/listen';
import { queueEventChannel } from '@paddock/db/connection/schema-name';
import { findMatchingSettings } from '@paddock/db/instance';
import { noteAway } from '@paddock/db/outages';
import { liftSwitch, setSwitch } from '@paddock/db/switches';
import { createMetrics } from '@paddock/runtime/metrics';
import { createWake } from '@paddock/runtime/loop';
import { impatientReaches } from '../scenes/waits.scene.ts';
import { SILENT_LOG } from '@paddock/testing/stand-ins';
import { waitFor } from '@paddock/testing/wait-for';
import { sql } from 'kysely';
import { createEvents } from '../events.ts';
import { ACME, useMatching } from '../scenes/matching.scene.ts';
import { GATE } from '../scenes/settings.scene.ts';
import { runMatching } from './match-loop.ts';

const scene = useMatching({});

let stop = new AbortController();
let ended: Promise<unknown>;
/** Far from its tick, it acts on notifications alone. `silence`: why GitHub answers no probe. */
function start({ tickMs = 600_000, silence }: { tickMs?: number; silence?: string } = {}): void {
  const { db, url, schema } = scene.database;
  stop = new AbortController();
  const probes = {
    github: () => Promise.resolve(silence),
    cluster: () => Promise.resolve(undefined),
  };
  const wake = createWake();
  const listener = {
    config: clientConfig({ url, schema, applicationName: 'paddock-test' }),
    channels: [queueEventChannel(schema)],
    onWake: () => wake.ring(),
    onError: () => undefined,
  };
  const parts = {
    db,
    wake,
    tickMs,
    forgottenAfterMs: 60_000,
    settings: GATE,
    events: createEvents(SILENT_LOG, createMetrics()),
    reach: impatientReaches(db, probes),
    pods: { before: <T>(pass: (mayMake: boolean) => Promise<T>) => pass(true) },
  };
  ended = Promise.all([listen(listener, stop.signal), runMatching(parts, stop.signal)]);
}
afterEach(async () => {
  stop.abort();
  await ended;
});

const listening = () =>
  waitFor('the listener', async () => {
    const sessions = sql`select from pg_stat_activity where query like 'listen %' and datname = current_database()`;
    return (await sessions.execute(scene.db)).rows.length > 0;
  });
const made = () => waitFor('the worker', async () => (await scene.workers())[0]);
const reasonIs = (reason: string) =>
  waitFor('the reason', async () => (await scene.keys())[0]?.[3] === reason);
const outages = () => scene.db.selectFrom('outages').select('service').execute();

test('makes a worker at once for a job that is announced, and keeps its Apps for people (A7, C1, P5)', async () => {
  start();
  await listening();
  await scene.putJobs(1);
  expect(await made()).toMatchObject({ status: 'pending' });
  const settings = await waitFor('the settings', () => findMatchingSettings(scene.db));
  expect(settings).toMatchObject({ appIds: GATE.appIds });
});

test('asks its own probe about an outage that another process noted, and goes on at once if that is answered', async () => {
  await noteAway(scene.db, 'github', 'only that process is cut off');
  await scene.putJobs(1);
  start();
  await made();
  expect(await outages()).toEqual([]);
});

test('leaves the row of an outage that its own probe confirms, and makes no worker', async () => {
  await noteAway(scene.db, 'github', 'no answer');
  await scene.putJobs(1);
  start({ silence: 'no answer' });
  await reasonIs('github_unavailable');
  expect([await scene.workers(), await outages()]).toEqual([[], [{ service: 'github' }]]);
});

test('obeys a stop, and makes the worker at once when the stop ends (A7, C12)', async () => {
  await setSwitch(scene.db, 'environment', 'ada');
  start();
  await listening();
  await scene.putJobs(1);
  await reasonIs('making_stopped');
  await liftSwitch(scene.db, 'environment');
  expect(await made()).toMatchObject({ is_warm: false });
});

test('makes it when the pause of its key ends, long before the tick (C1, C11)', async () => {
  await scene.fail(ACME);
  await sql`update demand_keys set paused_until = now() + interval '2 seconds'`.execute(scene.db);
  await scene.putJobs(1, ACME);
  start();
  await reasonIs('workers_failing');
  const [worker] = await waitFor('the worker', async () => {
    const alive = await scene.alive();
    return alive.length > 0 && alive;
  });
  expect(worker).toMatchObject({ entity_name: 'acme', status: 'pending' });
});

test('makes it by the tick when no notification comes (C1)', async () => {
  await sql`alter table jobs disable trigger jobs_inserted`.execute(scene.db);
  start({ tickMs: 50 });
  await scene.putJobs(1);
  expect(await made()).toMatchObject({ is_warm: false });
  await sql`alter table jobs enable trigger jobs_inserted`.execute(scene.db);
});
