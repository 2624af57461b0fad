import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { lockMatching } from '@paddock/db/matching/matching-lock';
import { waitFor } from '@paddock/testing/wait-for';
import { startSystem, type TestSystem } from './start-system.ts';

const SERVICES = ['ingress', 'scheduler', 'reconciler'] as const;

const completed = async ({ database, github }: TestSystem, count: number) => {
  const jobs = await Promise.all(
    Array.from({ length: count }, () =>
      github.queueJob({ repo: 'acme/shop', labels: ['self-hosted', 'linux'], durationMs: 50 }),
    ),
  );
  await waitFor(`${count} jobs to complete in ${database.schema}`, async () => {
    const rows = await database.db
      .selectFrom('jobs')
      .select('job_id')
      .where('status', '=', 'completed')
      .execute();
    return rows.length === jobs.length;
  });
  return jobs.map(({ id }) => id);
};

const rowsOf = async ({ database: { db } }: TestSystem) => ({
  instance: (await db.selectFrom('instance').select('instance_id').executeTakeFirstOrThrow())
    .instance_id,
  jobs: (await db.selectFrom('jobs').select('job_id').orderBy('job_id').execute()).map(
    (row) => row.job_id,
  ),
  workers: (await db.selectFrom('workers').select('pod_name').execute()).map((row) => row.pod_name),
});

describe('two environments in two schemas of one database, in one namespace of one cluster (A8)', () => {
  let production: TestSystem;
  let staging: TestSystem;

  beforeAll(async () => {
    production = await startSystem();
    staging = await startSystem({ beside: { system: production, schema: 'staging' } });
    for (const service of SERVICES) {
      await production.start(service);
      await staging.start(service);
    }
  });

  afterAll(async () => {
    await staging.stop();
    await production.stop();
  });

  test('both make progress at the same time, and neither sees jobs, workers or pods of the other', async () => {
    const [productionJobs, stagingJobs] = await Promise.all([
      completed(production, 4),
      completed(staging, 3),
    ]);
    const ours = await rowsOf(production);
    const theirs = await rowsOf(staging);
    expect(ours.instance).not.toBe(theirs.instance);
    expect(ours.jobs).toEqual(productionJobs.toSorted((a, b) => a - b));
    expect(theirs.jobs).toEqual(stagingJobs.toSorted((a, b) => a - b));
    for (const { instance, workers } of [ours, theirs]) {
      expect(workers.length).toBeGreaterThan(0);
      expect(workers.every((name) => name.startsWith(`pdk-${instance}-`))).toBe(true);
    }
    for (const system of [production, staging]) {
      const { excessWorkers, lost } = await system.github.report();
      expect({ excessWorkers, lost }).toEqual({ excessWorkers: 0, lost: 0 });
    }
  });

  test('a matcher that holds its lock in one environment does not hold up the other', async () => {
    const { db } = production.database;
    await db.transaction().execute(async (trx) => {
      await lockMatching(trx, {
        lockTimeoutMs: 60_000,
        statementTimeoutMs: 60_000,
        idleTimeoutMs: 150_000,
      });
      const { id } = await staging.github.queueJob({
        repo: 'acme/shop',
        labels: ['self-hosted', 'linux'],
        durationMs: 20,
      });
      await waitFor('the job of the other environment to complete', () =>
        staging.database.db
          .selectFrom('jobs')
          .select('job_id')
          .where('job_id', '=', id)
          .where('status', '=', 'completed')
          .executeTakeFirst(),
      );
    });
    expect((await rowsOf(staging)).workers.length).toBeGreaterThan(3);
  });
});
