import { expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { examplePools, putPools } from '@paddock/testing/demand-rows';
import { examplePayload } from '@paddock/testing/signed-delivery';
import { findReasons, matchAll, matchOnce } from '../scenes/matching.scene.ts';
import { deliveryToRecord } from '@paddock/db/scenes/delivery.scene';
import { recordDeliveries } from '@paddock/db/deliveries/record-deliveries';

const testDb = useTestDatabase();

const pools = { version: 1, document: examplePools({ entities: { '*': { maxWorkers: 30 } } }) };
const JOBS = 40;
const ACTIONS = ['queued', 'in_progress', 'completed'] as const;

const delivery = (action: (typeof ACTIONS)[number], id: number, runnerName: string) =>
  deliveryToRecord(
    'workflow_job',
    examplePayload('workflow_job', action, {
      workflow_job: { id, labels: ['linux'], runner_name: action === 'queued' ? null : runnerName },
      repository: {
        id: 21,
        full_name: 'acme/api',
        private: true,
        owner: { id: 11, login: 'acme', type: 'Organization' },
      },
      installation: { id: 31 },
    }),
  );

const workers = () =>
  testDb.db
    .selectFrom('workers')
    .select(['pod_name', 'status', 'assigned_at'])
    .orderBy('created_at')
    .execute();

/**
 * Every job is queued, starts on one of our workers and ends, in batches whose jobs come in another
 * order each time.
 */
async function deliver(shift: number): Promise<void> {
  for (const action of ACTIONS) {
    const made = await workers();
    const batch = Array.from({ length: JOBS }, (_, index) => {
      const id = 900 + ((index * 7 + shift) % JOBS);
      return delivery(
        action,
        id,
        made[(id + shift) % Math.max(made.length, 1)]?.pod_name ?? 'foreign',
      );
    });
    for (let first = 0; first < JOBS; first += 10)
      await recordDeliveries(testDb.db, batch.slice(first, first + 10), pools);
  }
}

test('matching beside ingress that writes the same jobs and workers ends without a deadlock and within the caps (B6, C5)', async () => {
  await putPools(testDb.db, pools.document);
  const delivered = new AbortController();
  const match = async () => {
    while (!delivered.signal.aborted) {
      await matchOnce(testDb.db, { most: 7 });
      const alive = (await workers()).filter(
        ({ status }) => status === 'pending' || status === 'running',
      );
      expect(alive.length).toBeLessThanOrEqual(30);
    }
  };
  const delivering = Promise.all([0, 13, 26].map(deliver)).finally(() => delivered.abort());
  await Promise.all([delivering, match(), match()]);
  await matchAll(testDb.db);
  // All jobs have ended, so no unregistered reservation is kept for them.
  expect(await findReasons(testDb.db)).toEqual({});
  expect(
    (await workers()).filter(
      ({ status, assigned_at: assigned }) => status === 'pending' && assigned === null,
    ),
  ).toEqual([]);
});
