import { expect, test } from '@jest/globals';
import { useTestDatabase } from '@paddock/testing/use-test-database';
import { putWorker } from '@paddock/testing/worker-rows';
import { adoptWorkers, type PodToAdopt } from './registrations.ts';

const testDb = useTestDatabase();

const pod = (podName: string): PodToAdopt => ({
  podName,
  podUid: `uid of ${podName}`,
  podCreatedAt: new Date(),
  namespace: 'runners',
  cluster: null,
  pool: 'linux',
  image: 'runner:1',
  entityId: 11,
  scopeRepoId: 0,
  madeForJobId: null,
  deliveryGuid: null,
  entityType: 'Organization',
  entityName: 'acme',
  appId: 1001,
  installationId: 31,
  repoFullName: null,
});

test('a row that has come meanwhile stays as it is, and the other pods are adopted (A5, E6)', async () => {
  const there = await putWorker(testDb.db);
  const adopt = () =>
    testDb.db
      .transaction()
      .execute((trx) => adoptWorkers(trx, [pod(there.pod_name), pod('pdk-left')]));
  expect(await adopt()).toEqual(['pdk-left']);
  expect(
    await testDb.db
      .selectFrom('workers')
      .selectAll()
      .where('pod_name', '=', there.pod_name)
      .execute(),
  ).toEqual([there]);
});
