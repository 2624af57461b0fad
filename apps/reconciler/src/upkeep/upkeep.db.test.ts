import { retiredUpTo, retireEvents } from '@paddock/db/deliveries/retire-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { emptyTables } from '@paddock/testing/empty-tables';
import { putJob } from '@paddock/testing/demand-rows';
import { minutesAgo, putWorker } from '@paddock/testing/worker-rows';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { upkeep, type UpkeepOptions } from './upkeep.ts';
import { createClockWatch } from './watch-clock.ts';

const database = useTestDatabase();
beforeEach(async () => {
  await emptyTables(database.db, ['jobs', 'workers', 'installation_events', 'wait_reason_changes']);
  await database.db.updateTable('instance').set({ events_retired_to: 0 }).execute();
});

const KEPT = { keepDays: 90, keepWaitReasonsHours: 24 };

/** What a pass removed of events and jobs. */
async function sweep(more: Partial<UpkeepOptions> = {}) {
  const bounds = { batch: 100, maxBatches: 100, maxHours: 200 };
  const { counts, isMore, failed } = await upkeep({
    db: database.dbOf('reconciler'),
    config: KEPT,
    signal: new AbortController().signal,
    ...bounds,
    ...more,
  });
  expect(failed).toEqual([]);
  const removed = (part: string) => counts[part]?.['removed'] ?? 0;
  return { events: removed('events'), jobs: removed('jobs'), more: isMore };
}

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
const events = async () =>
  (await database.db.selectFrom('installation_events').select('event').orderBy('id').execute()).map(
    ({ event }) => event,
  );

const ENDED = { status: 'completed' as const, wants_worker: false, conclusion: 'success' };

/**
 * A job that has not changed for `days`. Every UPDATE moves updated_at, so it is inserted as it is.
 */
const putOldJob = async (
  days: number,
  given: Parameters<typeof putJob>[1] = {},
): Promise<number> => {
  const at = daysAgo(days);
  return (
    await putJob(database.db, { ...ENDED, run_id: 1, created_at: at, updated_at: at, ...given })
  ).job_id;
};
const jobs = async () =>
  (await database.db.selectFrom('jobs').select('job_id').orderBy('job_id').execute()).map(
    (row) => row.job_id,
  );

describe('old events (E7)', () => {
  test('go after their time, but those of installations and of authentication never', async () => {
    const kept = [
      'installation.created',
      'installation_repositories.added',
      'installation_target.renamed',
      'auth_attempt.404',
      'discovered.installed',
    ];
    for (const event of [
      ...kept,
      'workflow_job.queued',
      'ping',
      'push',
      'discovered.queued',
      'workflow_job.completed',
    ]) {
      await putEvent(event, 91);
    }
    await putEvent('workflow_job.queued', 89);
    expect(await sweep()).toEqual({ events: 5, jobs: 0, more: false });
    expect(await events()).toEqual([...kept, 'workflow_job.queued']);
    expect(await sweep()).toEqual({ events: 0, jobs: 0, more: false });
  });

  test('go under any event name, and although the body of a kept one came again', async () => {
    for (const event of [
      'installation_made_up.created',
      'auth_attempt.created',
      'discovered.installed',
      'discovered.uninstalled',
    ]) {
      await putEvent(event, 91, { source: 'webhook' });
    }
    await putEvent('installation.created', 91, { outcome: 'repeated_body' });
    expect(await sweep()).toEqual({ events: 5, jobs: 0, more: false });
  });

  test('wait for a younger one with a lower id, so that none is passed over', async () => {
    for (const days of [91, 89, 91]) await putEvent('workflow_job.queued', days);
    expect(await sweep()).toEqual({ events: 1, jobs: 0, more: false });
    await database.db
      .updateTable('installation_events')
      .set({ received_at: daysAgo(91) })
      .execute();
    expect(await sweep()).toEqual({ events: 2, jobs: 0, more: false });
  });

  test('are not read again because a slower pass ends after a faster one', async () => {
    for (const event of ['installation.created', 'installation.deleted']) await putEvent(event, 91);
    await sweep();
    const db = database.dbOf('reconciler');
    const reached = await retiredUpTo(db);
    expect((await retireEvents(db, { afterId: 0, keepDays: 90, batch: 1 })).reachedId).toBeLessThan(
      reached,
    );
    expect(await retiredUpTo(db)).toBe(reached);
  });

  test('go in batches, and a pass that was cut short is gone on with where it stopped', async () => {
    for (let nth = 0; nth < 3; nth++) {
      await putEvent('installation.created', 100);
      await putEvent('ping', 100);
    }
    await putEvent('ping', 1);
    expect(await sweep({ batch: 2, maxBatches: 2 })).toEqual({ events: 2, jobs: 0, more: true });
    expect(await sweep({ batch: 2 })).toEqual({ events: 1, jobs: 0, more: false });
    expect(await events()).toEqual([
      'installation.created',
      'installation.created',
      'installation.created',
      'ping',
    ]);
  });

  test('go once, even if two passes remove them at the same time', async () => {
    for (let nth = 0; nth < 50; nth++) await putEvent('ping', 100);
    const passes = await Promise.all([
      sweep({ batch: 7 }),
      sweep({ batch: 7 }),
      sweep({ batch: 11 }),
    ]);
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
    expect(await sweep()).toEqual({ events: 0, jobs: 2, more: false });
    expect(await jobs()).toEqual(kept);
  });

  test('are kept while a worker of theirs lives, or their run goes on', async () => {
    const [assigned, madeFor, sibling] = [
      await putOldJob(200),
      await putOldJob(200),
      await putOldJob(200, { run_id: 77 }),
    ];
    await putOldJob(1, { run_id: 77, status: 'running' });
    await putWorker(database.db, { assigned_job_id: assigned, assigned_at: minutesAgo(1) });
    await putWorker(database.db, { made_for_job_id: madeFor });
    expect(await sweep()).toMatchObject({ jobs: 0 });
    await database.db
      .updateTable('workers')
      .set({ status: 'failed', completed_at: new Date() })
      .execute();
    await database.db
      .updateTable('jobs')
      .set({ status: 'completed' })
      .where('status', '=', 'running')
      .execute();
    expect(await sweep()).toMatchObject({ jobs: 3 });
    expect(await jobs()).not.toContain(sibling);
    expect(await database.db.selectFrom('workers').select('pod_name').execute()).toHaveLength(2);
  });

  test('wait for no writer and hold none up: a job that another transaction writes is passed over', async () => {
    const [busy, free] = [await putOldJob(100), await putOldJob(100)];
    await database.db.transaction().execute(async (trx) => {
      await sql`select from jobs where job_id = ${busy} for update`.execute(trx);
      expect(await sweep()).toMatchObject({ jobs: 1 });
    });
    expect(await jobs()).toEqual([busy]);
    expect(await jobs()).not.toContain(free);
  });
});

test('neither waits until all of the other are gone', async () => {
  for (let nth = 0; nth < 5; nth++) await putEvent('ping', 100);
  for (let nth = 0; nth < 5; nth++) await putOldJob(100);
  expect(await sweep({ batch: 2, maxBatches: 1 })).toEqual({ events: 2, jobs: 2, more: true });
  expect(await sweep({ batch: 2, maxBatches: 2 })).toEqual({ events: 3, jobs: 3, more: false });
});

test('a process that stops leaves the rest to the next pass', async () => {
  await putEvent('ping', 100);
  await putOldJob(100);
  expect(await sweep({ signal: AbortSignal.abort() })).toEqual({ events: 0, jobs: 0, more: false });
});

test('reasons to wait go after a day, workers never (E7)', async () => {
  await putWorker(database.db, { status: 'failed', completed_at: minutesAgo(4_000 * DAY_MINUTES) });
  for (const hours of [23, 25])
    await sql`insert into wait_reason_changes (demand_key, reason, since, until)
      values (${hours}, 'at_pool_cap', now() - interval '2 days', now() - ${hours} * interval '1 hour')`.execute(
      database.db,
    );
  await sweep();
  const left = await database.db.selectFrom('wait_reason_changes').select('demand_key').execute();
  expect(left).toEqual([{ demand_key: 23 }]);
  expect(await database.db.selectFrom('workers').select('pod_name').execute()).toHaveLength(1);
});

test('says once that the clocks disagree, and then what a wrong clock has left', async () => {
  const said: unknown[] = [];
  const tell = {
    clocksDiffer: (seconds: number) => void said.push(Math.round(seconds / 60)),
    instantsMended: (rows: object) => void said.push(rows),
  };
  let behindMs = 600_000;
  const watch = createClockWatch(
    database.dbOf('reconciler'),
    tell,
    () => new Date(Date.now() - behindMs),
  );
  await sql`insert into leases (name, holder, fence, expires_at) values ('a', 'died', 1, now() + interval '1 year')`.execute(
    database.db,
  );
  await watch();
  await watch();
  expect(said).toEqual([10]);
  behindMs = 0;
  await watch();
  await watch();
  expect(said).toEqual([10, { leases: 1 }]);
});
