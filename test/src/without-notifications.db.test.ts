import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { waitFor } from '@paddock/testing/wait-for';
import {
  loseNotifications,
  type LostNotifications,
  type Trouble,
} from './scenes/lost-notifications.scene.ts';
import { startSystem, type TestSystem } from './start-system.ts';

const TROUBLES: { trouble: Trouble; how: string }[] = [
  { trouble: 'swallow', how: 'no notification arrives' },
  { trouble: 'cut', how: 'listeners lose the connection' },
];

describe.each(TROUBLES)('$how', ({ trouble }) => {
  let system: TestSystem;
  let lost: LostNotifications;

  beforeAll(async () => {
    system = await startSystem();
    lost = await loseNotifications(system.database.url, trouble);
    await system.start('ingress');
    await system.start('scheduler', { settings: { DATABASE_URL: lost.url } });
  });

  afterAll(async () => {
    await system.stop();
    await lost.stop();
  });

  test('jobs get workers, more than the cap allows at once among them, and all rows end (C1, D3, P1)', async () => {
    await waitFor(
      'something to be kept from the scheduler',
      () => trouble === 'swallow' || lost.hits() > 0,
    );
    const jobs = await Promise.all(
      Array.from({ length: 7 }, () =>
        system.github.queueJob({
          repo: 'acme/shop',
          labels: ['self-hosted', 'linux'],
          durationMs: 20,
        }),
      ),
    );
    const { db } = system.database;
    await waitFor('the jobs to complete', async () => {
      const completed = await db
        .selectFrom('jobs')
        .select('job_id')
        .where('status', '=', 'completed')
        .execute();
      return completed.length === jobs.length;
    });
    await waitFor('the workers to end', async () => {
      const alive = await db
        .selectFrom('workers')
        .select('pod_name')
        .where('status', 'in', ['pending', 'running'])
        .execute();
      return alive.length === 0;
    });
    await waitFor('the Secrets to go', () => system.cluster.report().secretsLeft.length === 0);
    expect(lost.hits()).toBeGreaterThan(0);
    const { excessWorkers, lost: lostJobs } = await system.github.report();
    expect({ excessWorkers, lostJobs }).toEqual({ excessWorkers: 0, lostJobs: 0 });
  });
});
