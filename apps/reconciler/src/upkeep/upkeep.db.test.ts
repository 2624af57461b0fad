import { retiredUpTo, retireEvents } from '@paddock/db/retire-rows';
import { emptyTables, useTestDatabase } from '@paddock/testing/use-test-database';
import { minutesAgo, putJob, putWorker } from '@paddock/testing/demand-rows';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import type { ReconcilerConfig } from '../settings.ts';
import type { PassOptions } from '../passes/pass.ts';
import { beginByHand, CONFIG, usualContext } from '../scenes/sweep.scene.ts';
import { upkeep } from './upkeep.ts';

const database = useTestDatabase();
beforeEach(async () => {
  await emptyTables(database.db, ['jobs', 'workers', 'installation_events', 'wait_reason_changes']);
  await database.db.updateTable('instance').set({ events_retired_to: 0 }).execute();
});

/** What a pass removed of events and jobs, and whether another one follows. */
async function sweep(config: Partial<ReconcilerConfig> = {}, given: Partial<PassOptions> = {}) {
  const db = database.dbOf('reconciler');
  const context = { ...usualContext(db), config: { ...CONFIG, ...config } };
  const outcome = await upkeep(context, (await beginByHand(db, given)).pass);
  if (outcome.outcome !== 'done') throw new Error(outcome.reason);
  const counts = outcome.output as Record<string, { removed: number } | undefined>;
  const [events = 0, jobs = 0] = [counts['events']?.removed, counts['jobs']?.removed];
  return { events, jobs, more: outcome.followOn?.length === 1 };
}
const NONE = { events: 0, jobs: 0, more: false };

const DAY_MINUTES = 1_440;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MINUTES * 60_000);

const putEvent = (
  event: string,
  days: number,
  { source = sourceOf(event), outcome = 'ok' }: { source?: Source; outcome?: string } = {},
) =>
  database.db
    .insertInto('installation_events')
    .values({ source, event, outcome, payload: '{}', received_at: minutesAgo(days * DAY_MINUTES) })
    .execute();
type Source = 'webhook' | 'reconciler';
const sourceOf = (event: string): Source =>
  /^(auth_attempt|discovered)\./.test(event) ? 'reconciler' : 'webhook';
const events = async () => {
  const rows = database.db.selectFrom('installation_events').select('event').orderBy('id');
  return (await rows.execute()).map(({ event }) => event);
};

const ENDED = { status: 'completed' as const, wants_worker: false, conclusion: 'success' };

/**
 * A job that has not changed for `days`. Every UPDATE moves updated_at, so it is inserted as it is.
 */
const putOldJob = async (days: number, given: Parameters<typeof putJob>[1] = {}) => {
  const at = daysAgo(days);
  const row = { ...ENDED, run_id: 1, created_at: at, updated_at: at, ...given };
  return (await putJob(database.db, row)).job_id;
};
const jobs = async () => {
  const rows = database.db.selectFrom('jobs').select('job_id').orderBy('job_id');
  return (await rows.execute()).map(({ job_id: id }) => id);
};

describe('old events (E7)', () => {
  const kept = [
    'installation.created',
    'installation_repositories.added',
    'installation_target.renamed',
    'auth_attempt.404',
    'discovered.installed',
  ];
  const others = ['workflow_job.queued', 'ping', 'push', 'discovered.queued'];

  test('go after their time, but those of installations and of authentication never', async () => {
    for (const event of [...kept, ...others]) await putEvent(event, 91);
    await putEvent('workflow_job.queued', 89);
    expect(await sweep()).toEqual({ ...NONE, events: 4 });
    expect(await events()).toEqual([...kept, 'workflow_job.queued']);
    expect(await sweep()).toEqual(NONE);
  });

  test('go under any event name, and although the body of a kept one came again', async () => {
    const made = ['installation_made_up.created', 'auth_attempt.404', 'discovered.installed'];
    for (const event of made) await putEvent(event, 91, { source: 'webhook' });
    await putEvent('installation.created', 91, { outcome: 'repeated_body' });
    expect(await sweep()).toEqual({ ...NONE, events: 4 });
  });

  test('wait for a younger one with a lower id, so that none is passed over', async () => {
    for (const days of [91, 89, 91]) await putEvent('workflow_job.queued', days);
    expect(await sweep()).toEqual({ ...NONE, events: 1 });
    const received_at = daysAgo(91);
    await database.db.updateTable('installation_events').set({ received_at }).execute();
    expect(await sweep()).toEqual({ ...NONE, events: 2 });
  });

  test('are not read again because a slower pass ends after a faster one', async () => {
    for (const event of ['installation.created', 'installation.deleted']) await putEvent(event, 91);
    await sweep();
    const db = database.dbOf('reconciler');
    const reached = await retiredUpTo(db);
    const { reachedId } = await retireEvents(db, { afterId: 0, keepDays: 90, batch: 1 });
    expect(reachedId).toBeLessThan(reached);
    expect(await retiredUpTo(db)).toBe(reached);
  });

  test('go in batches, and a pass that was cut short is gone on with where it stopped', async () => {
    for (let nth = 0; nth < 3; nth++) {
      await putEvent('installation.created', 100);
      await putEvent('ping', 100);
    }
    await putEvent('ping', 1);
    const cut = { rowsOfBatch: 2, batchesOfPass: 2 };
    expect(await sweep(cut)).toEqual({ ...NONE, events: 2, more: true });
    expect(await sweep({ rowsOfBatch: 2 })).toEqual({ ...NONE, events: 1 });
    const left = Array.from({ length: 3 }, () => 'installation.created');
    expect(await events()).toEqual([...left, 'ping']);
  });

  test('go once, even if two passes remove them at the same time', async () => {
    for (let nth = 0; nth < 50; nth++) await putEvent('ping', 100);
    const passes = await Promise.all([7, 7, 11].map((rowsOfBatch) => sweep({ rowsOfBatch })));
    expect(passes.reduce((sum, { events: removed }) => sum + removed, 0)).toBe(50);
    expect(await events()).toEqual([]);
  });
});

describe('ended jobs (E7)', () => {
  test('go when nothing has changed for their time; those that have not ended never', async () => {
    await putOldJob(91);
    await putOldJob(91, { status: 'failed' });
    const kept = [
      await putOldJob(89),
      await putOldJob(200, { updated_at: new Date() }),
      await putOldJob(200, { status: 'pending', wants_worker: true, run_id: 2 }),
      await putOldJob(200, { status: 'running', run_id: 3 }),
      await putOldJob(200, { status: 'completed', wants_worker: true, run_id: 4 }),
    ];
    expect(await sweep()).toEqual({ ...NONE, jobs: 2 });
    expect(await jobs()).toEqual(kept);
  });

  test('are kept while a worker of theirs lives, or their run goes on', async () => {
    const [assigned, madeFor] = [await putOldJob(200), await putOldJob(200)];
    await putOldJob(200, { run_id: 77 });
    const runs = await putOldJob(1, { run_id: 77, status: 'running' });
    await putWorker(database.db, { assigned_job_id: assigned, assigned_at: minutesAgo(1) });
    await putWorker(database.db, { made_for_job_id: madeFor });
    expect(await sweep()).toMatchObject({ jobs: 0 });
    const ended = { status: 'failed', completed_at: new Date() } as const;
    await database.db.updateTable('workers').set(ended).execute();
    const ofRun = database.db.updateTable('jobs').set({ status: 'completed' });
    await ofRun.where('job_id', '=', runs).execute();
    expect(await sweep()).toMatchObject({ jobs: 3 });
    expect(await jobs()).toEqual([runs]);
    expect(await database.db.selectFrom('workers').select('pod_name').execute()).toHaveLength(2);
  });

  test('wait for no writer and hold none up: a job that another transaction writes is passed over', async () => {
    const busy = await putOldJob(100);
    await putOldJob(100);
    await database.db.transaction().execute(async (trx) => {
      await sql`select from jobs where job_id = ${busy} for update`.execute(trx);
      expect(await sweep()).toMatchObject({ jobs: 1 });
    });
    expect(await jobs()).toEqual([busy]);
  });
});

test('neither events nor jobs wait until all of the other are gone; a process that stops leaves both to the next pass', async () => {
  for (let nth = 0; nth < 5; nth++) await putEvent('ping', 100);
  for (let nth = 0; nth < 5; nth++) await putOldJob(100);
  expect(await sweep({}, { signal: AbortSignal.abort() })).toEqual(NONE);
  const batches = (batchesOfPass: number) => sweep({ rowsOfBatch: 2, batchesOfPass });
  expect(await batches(1)).toEqual({ events: 2, jobs: 2, more: true });
  expect(await batches(2)).toEqual({ events: 3, jobs: 3, more: false });
});

test('reasons to wait go after a day, workers never (E7)', async () => {
  await putWorker(database.db, { status: 'failed', completed_at: minutesAgo(4_000 * DAY_MINUTES) });
  const changes = [23, 25].map((hours) => ({
    demand_key: hours,
    reason: 'at_pool_cap',
    since: daysAgo(2),
    until: minutesAgo(hours * 60),
  }));
  await database.db.insertInto('wait_reason_changes').values(changes).execute();
  await sweep();
  const left = await database.db.selectFrom('wait_reason_changes').select('demand_key').execute();
  expect(left).toEqual([{ demand_key: 23 }]);
  expect(await database.db.selectFrom('workers').select('pod_name').execute()).toHaveLength(1);
});
