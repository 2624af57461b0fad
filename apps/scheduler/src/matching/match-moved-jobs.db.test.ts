import { currentPoolsDocument } from '@paddock/db/pools/pools-documents';
import { replaceWaitingJobs } from '@paddock/db/jobs/reconsider-jobs';
import { NO_POOL } from '@paddock/domain/pools/place-job';
import { examplePools, putJob, putPools } from '@paddock/testing/demand-rows';
import { describe, expect, test } from '@jest/globals';
import { findReasons, matchOnce, useMatchingDatabase } from '../scenes/matching.scene.ts';

const testDb = useMatchingDatabase(examplePools());

const LINUX = { name: 'linux', labels: ['linux'] };

/** Puts pools in force; jobs that wait go where they are served now. */
async function configure(...pools: readonly { name: string; labels: string[] }[]): Promise<void> {
  await putPools(testDb.db, examplePools({ pools }));
  const current = await currentPoolsDocument(testDb.db);
  if (current === undefined) throw new Error('There is no pools document.');
  await replaceWaitingJobs(testDb.db, current);
}

describe('a job that waits while the pools change (B4)', () => {
  test('gets its worker in the pool that serves it now; the reservation in the old one goes back (C3)', async () => {
    await configure(LINUX);
    const { job_id: job } = await putJob(testDb.db);
    await matchOnce(testDb.db);
    await configure({ ...LINUX, labels: ['linux', 'x64'] }, { name: 'better', labels: ['linux'] });
    const { ended, reserved } = await matchOnce(testDb.db);
    expect(ended).toHaveLength(1);
    expect(reserved).toMatchObject([{ pool: 'better', madeForJobId: job }]);
  });

  test('waits with a special reason while no pool fits it (P5)', async () => {
    await configure(LINUX);
    const { job_id: job } = await putJob(testDb.db);
    await configure({ ...LINUX, labels: ['windows'] });
    expect((await matchOnce(testDb.db)).reserved).toEqual([]);
    expect(await findReasons(testDb.db)).toEqual({ [NO_POOL]: 'no_pool_fits' });
    await configure(LINUX);
    expect((await matchOnce(testDb.db)).reserved).toMatchObject([
      { pool: 'linux', madeForJobId: job },
    ]);
  });
});
