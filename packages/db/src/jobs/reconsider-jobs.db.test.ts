import { beforeEach, describe, expect, test } from '@jest/globals';
import { poolsDocument } from '@paddock/domain/pools/pools-document';
import { reduceJobPayload } from '@paddock/domain/deliveries/delivery-bodies';
import { type TestDatabase } from '@paddock/testing/database';
import { emptyTables, useTestDatabase } from '@paddock/testing/use-test-database';
import { putJob, putPools } from '@paddock/testing/demand-rows';
import { NO_POOL } from '@paddock/domain/pools/place-job';
import { examplePayload } from '@paddock/testing/signed-delivery';
import { sql } from 'kysely';
import { deliveryToRecord } from '@paddock/testing/deliveries-to-record';
import { recordDeliveries } from '../deliveries/record-deliveries.ts';
import { currentPoolsDocument } from '../pools/pools-documents.ts';
import { reconsiderJobs, replaceWaitingJobs } from './reconsider-jobs.ts';

const database = useTestDatabase();
beforeEach(async () => {
  await emptyTables(database.db, ['jobs', 'pools_documents', 'installation_events']);
});

const rows = () => database.db.selectFrom('jobs').selectAll().orderBy('job_id').execute();

const small = { name: 'small', labels: ['linux'], image: 'runner:1', namespace: 'runners' };
const inForce = (version: number, pools: object[]) => ({
  version,
  document: poolsDocument.parse({ pools, entities: { '*': {} } }),
});
const before = inForce(1, [small]);
const after = inForce(2, [small, { ...small, name: 'big', labels: ['windows'] }]);

/** One time for all: a body that is sent again says the same. */
const QUEUED_AT = new Date().toISOString();

const deliver = (
  db: TestDatabase['db'],
  action: 'queued' | 'completed',
  id: number,
  label: string,
  guid = `guid-${id}-${action}`,
) => {
  const body = examplePayload('workflow_job', action, {
    workflow_job: { id, labels: [label], created_at: QUEUED_AT, started_at: QUEUED_AT },
    repository: { private: true },
  });
  const reduced = () => reduceJobPayload(body, JSON.stringify(body).length);
  const delivery = deliveryToRecord('workflow_job', body, 41, { guid, reduced });
  return recordDeliveries(db, [delivery], before);
};

test('jobs that fit a pool now and have no later news are demand, once; all others stay as they are (B4)', async () => {
  const { db } = database;
  await deliver(db, 'queued', 1, 'windows');
  await sql`update installation_events set received_at = now() - interval '49 hours'`.execute(db);
  await deliver(db, 'queued', 2, 'windows');
  await deliver(db, 'queued', 3, 'windows');
  await deliver(db, 'completed', 3, 'windows');
  await deliver(db, 'queued', 4, 'macos');
  await deliver(db, 'queued', 5, 'linux');
  await deliver(db, 'queued', 6, 'windows');
  expect(await deliver(db, 'queued', 6, 'windows', 'of a replay')).toEqual(['repeated_body']);
  await deliver(db, 'completed', 7, 'windows');
  for (let nth = 0; nth < 2; nth++) await deliver(db, 'queued', 7, 'windows');

  expect(await reconsiderJobs(db, before, 48)).toBe(0);
  const all = await Promise.all([reconsiderJobs(db, after, 48), reconsiderJobs(db, after, 48)]);
  expect(Math.max(...all)).toBe(2);
  expect(await reconsiderJobs(db, after, 48)).toBe(0);
  const placed = { k8s_pool: 'big', pools_version: 2, wants_worker: true, app_id: 41 };
  expect(await rows()).toMatchObject([
    { job_id: 2, ...placed, delivery_guid: 'guid-2-queued' },
    { job_id: 5, k8s_pool: 'small', pools_version: 1 },
    { job_id: 6, ...placed, delivery_guid: 'guid-6-queued' },
  ]);
  const events = await db
    .selectFrom('installation_events')
    .select(['source', 'outcome'])
    .where('job_id', '=', 2)
    .orderBy('id')
    .execute();
  expect(events.slice(0, 2)).toEqual([
    { source: 'webhook', outcome: 'ignored_no_label' },
    { source: 'reconciler', outcome: 'job_stored' },
  ]);
});

const LINUX = { name: 'linux', labels: ['linux'] };

/** Puts pools in force; with the version that jobs are placed under. */
async function configure(
  ...pools: readonly { name: string; labels: string[]; publicRepositories?: boolean }[]
) {
  await putPools(database.db, { pools });
  const current = await currentPoolsDocument(database.db);
  if (current === undefined) throw new Error('There is no pools document.');
  return current;
}

const queue = async (given: Parameters<typeof putJob>[1] = {}) => {
  const { version } = (await currentPoolsDocument(database.db)) ?? { version: 1 };
  return (await putJob(database.db, { pools_version: version, ...given })).job_id;
};
const places = async () => (await rows()).map((row) => [row.job_id, row.k8s_pool]);
/** The events that say why a job waits somewhere else now (P5). */
const moves = () =>
  database.db
    .selectFrom('installation_events')
    .select(['job_id', 'source', 'event', 'payload'])
    .where('outcome', '=', 'job_moved')
    .orderBy('id')
    .execute();
const said = (from: string, to: string, poolsVersion: number) => ({
  poolsVersion,
  from: { pool: from, scopeRepoId: 0 },
  to: { pool: to, scopeRepoId: 0 },
});
describe('waiting jobs after a change of the pools (B4)', () => {
  test('go to the pool that serves them now, and an event says so (A5, P5)', async () => {
    await configure(LINUX);
    const job = await queue();
    const pools = await configure(
      { ...LINUX, labels: ['linux', 'x64'] },
      { name: 'better', labels: ['linux'] },
    );
    expect(await replaceWaitingJobs(database.db, pools)).toBe(1);
    expect(await places()).toEqual([[job, 'better']]);
    expect(await moves()).toEqual([
      {
        job_id: job,
        source: 'reconciler',
        event: 'pools.changed',
        payload: expect.objectContaining(said('linux', 'better', pools.version)),
      },
    ]);
  });

  test('stay as they are where nothing is different, and move once only, also by two processes (A5)', async () => {
    await configure(LINUX);
    await queue();
    const unmoved = await rows();
    const same = await configure(LINUX, { name: 'gpu', labels: ['gpu'] });
    expect(await replaceWaitingJobs(database.db, same)).toBe(0);
    expect(await rows()).toEqual(unmoved);
    const pools = await configure({ name: 'other', labels: ['linux'] });
    const moved = await Promise.all([
      replaceWaitingJobs(database.db, pools),
      replaceWaitingJobs(database.db, pools),
    ]);
    expect(moved.toSorted()).toEqual([0, 1]);
    expect(await moves()).toHaveLength(1);
  });

  test('of public repositories are no longer served when their pool does not serve such (B4)', async () => {
    await configure({ ...LINUX, publicRepositories: true });
    const [open, closed] = [await queue(), await queue()];
    for (const [job, isPrivate] of [[open, false] as const, [closed, true] as const]) {
      const payload = JSON.stringify({ repository: { private: isPrivate } });
      const event = {
        source: 'webhook',
        event: 'workflow_job.queued',
        outcome: 'job_stored',
      } as const;
      await database.db
        .insertInto('installation_events')
        .values({ ...event, job_id: job, payload })
        .execute();
    }
    await replaceWaitingJobs(database.db, await configure(LINUX));
    expect(await places()).toEqual([
      [open, NO_POOL],
      [closed, 'linux'],
    ]);
  });

  test('that have begun, or were placed under a newer document, stay (A6)', async () => {
    await configure(LINUX);
    const running = await queue({ status: 'running', wants_worker: false });
    const old = await configure({ name: 'other', labels: ['linux'] });
    const newer = await queue({ pools_version: old.version + 1 });
    expect(await replaceWaitingJobs(database.db, old)).toBe(0);
    expect(await moves()).toEqual([]);
    expect(await places()).toEqual([
      [running, 'linux'],
      [newer, 'linux'],
    ]);
  });
});
