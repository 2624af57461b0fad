import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { migrate } from '@paddock/db/migrate';
import { waitFor } from '@paddock/testing/wait-for';
import { createDatabaseBehind, NEWEST } from './scenes/earlier-version.scene.ts';
import { startSystem, type TestSystem } from './start-system.ts';

let system: TestSystem;

const queueJobs = async (count: number) =>
  Promise.all(
    Array.from({ length: count }, () =>
      system.github.queueJob({
        repo: 'acme/shop',
        labels: ['self-hosted', 'linux'],
        durationMs: 50,
      }),
    ),
  );

const completed = (count: number) =>
  waitFor(`${count} jobs to complete`, async () => {
    const rows = await system.database.db
      .selectFrom('jobs')
      .select('job_id')
      .where('status', '=', 'completed')
      .execute();
    return rows.length === count;
  });

beforeAll(async () => {
  system = await startSystem({ database: await createDatabaseBehind() });
  for (const service of ['ingress', 'scheduler', 'reconciler'] as const)
    await system.start(service);
});
afterAll(() => system.stop());

describe('services on a schema one version behind (A10)', () => {
  test('do their work there, and go on while the newest migration is applied', async () => {
    await queueJobs(3);
    await completed(3);
    await queueJobs(3);
    expect(await migrate({ url: system.database.url, schema: system.database.schema })).toEqual({
      applied: [NEWEST],
    });
    await queueJobs(3);
    await completed(9);
    expect(await system.github.report()).toMatchObject({ lost: 0, excessWorkers: 0 });
  });
});
