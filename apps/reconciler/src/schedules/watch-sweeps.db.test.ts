import { beforeEach, describe, expect, test } from '@jest/globals';
import { liftSwitch, setSwitch } from '@paddock/db/switches';
import { runDueTasks } from '@paddock/queue/scenes/run-due-tasks.scene';
import { enqueueAlone } from '@paddock/queue/enqueue';
import { done } from '@paddock/queue/kind';
import { createMetrics } from '@paddock/runtime/metrics';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { waitFor } from '@paddock/testing/wait-for';
import { minutesAgo } from '@paddock/testing/demand-rows';
import { sql } from 'kysely';
import { declareReconcilerGauges } from '../reconciler-gauges.ts';
import { CONFIG, noteEvents, usualContext } from '../scenes/sweep.scene.ts';
import { kindsOf } from '../sweep.ts';
import { createSchedules } from './take-ticks.ts';
import {
  redeliverTask,
  type Schedule,
  scheduleOf,
  sweepTask,
} from '@paddock/queue/sweep-schedules';
import { createWatch } from './watch-sweeps.ts';

const database = useTestDatabase();
/** The fault of the sweep "mow", if any. */
let obstacle: Error | undefined;
let told: string[];

beforeEach(async () => {
  obstacle = undefined;
  told = [];
  await sql`truncate schedules, tasks, operations, switches`.execute(database.db);
  const db = database.dbOf('reconciler');
  const { events } = noteEvents();
  await createSchedules({ db, schedules: () => SCHEDULES, events }).once();
  await drain();
});

const redeliver = redeliverTask(7);
const SCHEDULES: Schedule[] = [
  { name: 'mow', everySeconds: 60, task: sweepTask('mow') },
  { name: scheduleOf(redeliver), everySeconds: 300, task: redeliver },
];

const well = () => Promise.resolve(done());
const pass = () => (obstacle === undefined ? well() : Promise.reject(obstacle));
const drain = () => {
  const db = database.dbOf('reconciler');
  const sweeps = { mow: { slots: 1, pass }, redeliver: { slots: 1, pass: well } };
  return runDueTasks({ db, kinds: kindsOf(usualContext(db), sweeps, 10) });
};
const mow = async () => {
  await enqueueAlone(database.db, [sweepTask('mow')]);
  await drain();
};
/** Ten minutes without any other event. */
const letTimePass = () =>
  sql`update schedules set succeeded_at = now() - interval '10 minutes'`.execute(database.db);
const again = async () => {
  await sql`update tasks set due_at = now()`.execute(database.db);
  await drain();
};
const startWatch = (behindMs = () => 0) =>
  createWatch(
    database.dbOf('reconciler'),
    () => SCHEDULES,
    {
      sweepOverdue: (name, seconds, why) =>
        void told.push(`${name} ${Math.floor(seconds / 60)} min: ${why}`),
      sweepSucceedsAgain: (name) => void told.push(`${name} again`),
      clocksDiffer: (seconds) => void told.push(`${Math.round(seconds / 60)} min apart`),
      instantsMended: (rows) => void told.push(`mended ${JSON.stringify(rows)}`),
    },
    () => new Date(Date.now() - behindMs()),
  );
const gauges = async () => {
  const metrics = createMetrics();
  declareReconcilerGauges(metrics, database.dbOf('reconciler'), CONFIG, () => SCHEDULES);
  return waitFor('the gauges', async () => {
    const shown = (await metrics.registry.metrics())
      .split('\n')
      .filter((line) => line.startsWith('paddock_sweep_'));
    return shown.length > 0 && shown;
  });
};

describe('a sweep that does not succeed (E9, H5)', () => {
  test('the log names it and its reason once, and once more when it succeeds again', async () => {
    const watch = startWatch();
    await letTimePass();
    obstacle = new Error('canceling statement due to statement timeout');
    await mow();
    await watch();
    await watch();
    expect(told).toEqual([
      'mow 10 min: its last pass failed: canceling statement due to statement timeout',
    ]);
    expect(await gauges()).toEqual([
      'paddock_sweep_overdue{schedule="mow"} 1',
      'paddock_sweep_overdue{schedule="redeliver:7"} 0',
    ]);
    obstacle = undefined;
    await again();
    await watch();
    expect(told.slice(1)).toEqual(['mow again']);
    expect(await gauges()).toContain('paddock_sweep_overdue{schedule="mow"} 0');
  });

  test('has no success by a pass that found it paused; another reason is reported again', async () => {
    const watch = startWatch();
    await letTimePass();
    obstacle = new Error('502');
    await mow();
    await watch();
    obstacle = undefined;
    await sql`truncate tasks`.execute(database.db);
    await setSwitch(database.db, 'mow', 'mona');
    await mow();
    await watch();
    expect(told).toEqual([
      'mow 10 min: its last pass failed: 502',
      'mow 10 min: it was paused by mona',
    ]);
    await liftSwitch(database.db, 'mow');
    await mow();
    await watch();
    expect(told.slice(2)).toEqual(['mow again']);
  });

  test('the reason is the switch of its subject too, as of one App’s log', async () => {
    await sql`update schedules set succeeded_at = now() - interval '30 minutes'`.execute(
      database.db,
    );
    await setSwitch(database.db, 'redeliver:7', 'mona');
    await startWatch()();
    expect(told).toContain('redeliver:7 30 min: it was paused by mona');
  });

  test('the reason is the given-up task, or a kind without an executor', async () => {
    await letTimePass();
    obstacle = new Error('502');
    await mow();
    for (let time = 0; time < 2; time++) await again();
    await startWatch()();
    await sql`truncate operations`.execute(database.db);
    await enqueueAlone(database.db, [sweepTask('mow')]);
    await sql`update tasks set due_at = now() - interval '9 minutes'`.execute(database.db);
    await startWatch()();
    await sql`truncate tasks`.execute(database.db);
    const nineMinutesAgo = minutesAgo(9);
    await database.db.updateTable('schedules').set({ last_tick_at: nineMinutesAgo }).execute();
    await startWatch()();
    expect(told).toEqual([
      'mow 10 min: its last pass failed: 502',
      expect.stringMatching(/its task is due, and no executor has taken it for 5\d\d s$/),
      expect.stringMatching(/no replica has taken a tick of it for \d+ s$/),
    ]);
  });
});

test('says once that the clocks disagree, and then what a wrong clock has left', async () => {
  let behindMs = 600_000;
  const watch = startWatch(() => behindMs);
  const lease = { name: 'a', holder: 'died', fence: 1, expires_at: minutesAgo(-525_600) };
  await database.db.insertInto('leases').values(lease).execute();
  await watch();
  await watch();
  expect(told).toEqual(['10 min apart']);
  behindMs = 0;
  await watch();
  await watch();
  expect(told.slice(1)).toEqual(['mended {"leases":1}']);
});
