import { beforeAll, describe, expect, test } from '@jest/globals';
import { examplePools, putJob, putPools } from '@paddock/testing/demand-rows';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { putWorker } from '@paddock/testing/worker-rows';
import type { Endpoint } from '../endpoint.ts';
import { ENDPOINTS } from '../endpoints.ts';
import { ask } from '../scenes/ask.scene.ts';

const database = useTestDatabase();

/** Every list that has a filter `pool`. */
const FILTERED = ENDPOINTS.filter(
  ({ input, path }) => 'pool' in input.shape && !path.includes('{pool}'),
);

beforeAll(async () => {
  const { db } = database;
  const pools = [{ name: 'linux-x64' }, { name: 'gpu', labels: ['self-hosted', 'gpu'] }];
  await putPools(db, examplePools({ pools: [{ name: 'former' }] }));
  await putPools(db, examplePools({ pools }));
  const completed = { status: 'completed', completed_at: new Date() } as const;
  await putJob(db, { ...completed, wants_worker: false, k8s_pool: 'of-ended-job' });
  await putJob(db, { k8s_pool: 'of-waiting-job' });
  await putWorker(db, { ...completed, k8s_pool: 'of-ended-worker' });
  await putWorker(db, { k8s_pool: 'of-live-worker' });
});

const listed = ({ name }: Endpoint) => name;
const asks = (endpoint: Endpoint, pool: string) => {
  const dates = 'from' in endpoint.input.shape ? { from: '-2h', to: '-1h' } : {};
  return ask(endpoint, database.db, { pool, ...dates });
};

describe('a list of a pool (D12)', () => {
  test('is offered where it was when this was written', () => {
    expect(FILTERED.map(listed).toSorted()).toEqual([
      'countWaits',
      'exportUsage',
      'lastHour',
      'listJobs',
      'listUsage',
      'listWorkers',
    ]);
  });

  test.each(FILTERED.map((endpoint) => [listed(endpoint), endpoint] as const))(
    '%s refuses a name that nothing has, and is empty for one that something has',
    async (_name, endpoint) => {
      await expect(asks(endpoint, 'linux-x46')).rejects.toMatchObject({
        status: 400,
        detail:
          'No pool has the name linux-x46, and neither job nor worker names it; did you mean linux-x64?',
      });
      await expect(asks(endpoint, 'nowhere')).rejects.toMatchObject({
        detail: 'No pool has the name nowhere, and neither job nor worker names it.',
      });
      for (const pool of [
        'gpu',
        '(none)',
        'of-ended-job',
        'of-waiting-job',
        'of-ended-worker',
        'of-live-worker',
        'former',
      ])
        expect([pool, await asks(endpoint, pool)]).toEqual([pool, expect.anything()]);
    },
  );
});
