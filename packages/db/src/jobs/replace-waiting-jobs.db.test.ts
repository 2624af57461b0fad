import { beforeEach, describe, expect, test } from '@jest/globals';
import { NO_POOL } from '@paddock/domain/pools/place-job';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { emptyTables } from '@paddock/testing/empty-tables';
import { examplePools, putJob, putPools } from '@paddock/testing/demand-rows';
import { currentPoolsDocument } from '../pools/pools-documents.ts';
import { replaceWaitingJobs } from './reconsider-jobs.ts';

const testDb = useTestDatabase();
beforeEach(async () => {
  await emptyTables(testDb.db, ['jobs', 'pools_documents', 'installation_events']);
});

const LINUX = { name: 'linux', labels: ['linux'] };

/** Puts pools in force; with the version that jobs are placed under. */
async function configure(
  ...pools: readonly { name: string; labels: string[]; publicRepositories?: boolean }[]
) {
  await putPools(testDb.db, examplePools({ pools }));
  const current = await currentPoolsDocument(testDb.db);
  if (current === undefined) throw new Error('There is no pools document.');
  return current;
}

const queue = async (given: Parameters<typeof putJob>[1] = {}) => {
  const { version } = (await currentPoolsDocument(testDb.db)) ?? { version: 1 };
  return (await putJob(testDb.db, { pools_version: version, ...given })).job_id;
};
const places = async () => {
  const rows = await testDb.db
    .selectFrom('jobs')
    .select(['job_id', 'k8s_pool'])
    .orderBy('job_id')
    .execute();
  return rows.map((row) => [row.job_id, row.k8s_pool]);
};
/** The events that say why a job waits somewhere else now (P5). */
const moves = () =>
  testDb.db
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
const rows = () => testDb.db.selectFrom('jobs').selectAll().orderBy('job_id').execute();

describe('waiting jobs after a change of the pools (B4)', () => {
  test('go to the pool that serves them now, and an event says so (A5, P5)', async () => {
    await configure(LINUX);
    const job = await queue();
    const pools = await configure(
      { ...LINUX, labels: ['linux', 'x64'] },
      { name: 'better', labels: ['linux'] },
    );
    expect(await replaceWaitingJobs(testDb.db, pools)).toBe(1);
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
    const before = await rows();
    expect(
      await replaceWaitingJobs(testDb.db, await configure(LINUX, { name: 'gpu', labels: ['gpu'] })),
    ).toBe(0);
    expect(await rows()).toEqual(before);
    const pools = await configure({ name: 'other', labels: ['linux'] });
    const moved = await Promise.all([
      replaceWaitingJobs(testDb.db, pools),
      replaceWaitingJobs(testDb.db, pools),
    ]);
    expect(moved.toSorted()).toEqual([0, 1]);
    expect(await moves()).toHaveLength(1);
  });

  test('of public repositories are no longer served when their pool does not serve such (B4)', async () => {
    await configure({ ...LINUX, publicRepositories: true });
    const [open, closed] = [await queue(), await queue()];
    for (const [job, isPrivate] of [[open, false] as const, [closed, true] as const]) {
      const payload = JSON.stringify({ repository: { private: isPrivate } });
      await testDb.db
        .insertInto('installation_events')
        .values({
          source: 'webhook',
          event: 'workflow_job.queued',
          outcome: 'job_stored',
          job_id: job,
          payload,
        })
        .execute();
    }
    await replaceWaitingJobs(testDb.db, await configure(LINUX));
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
    expect(await replaceWaitingJobs(testDb.db, old)).toBe(0);
    expect(await moves()).toEqual([]);
    expect(await places()).toEqual([
      [running, 'linux'],
      [newer, 'linux'],
    ]);
  });
});
