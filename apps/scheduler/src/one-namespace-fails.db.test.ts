import { expect, test } from '@jest/globals';
import { examplePools } from '@paddock/testing/demand-rows';
import { useSchedulerWorld } from './scenes/use-scheduler-world.scene.ts';

const world = useSchedulerWorld({ kubelet: false });

const TIGHT = { name: 'tight', labels: ['self-hosted', 'tight'], namespace: 'others' };
const TIMES = 10;
const HOUR_AGO = new Date(Date.now() - 3_600_000);
const QUOTA =
  'Operation cannot be fulfilled on resourcequotas "q": the object has been modified; please apply your changes to the latest version and try again';
const DENIED = 'admission webhook "x" denied the request';

const queueTight = async (count: number) => {
  for (let n = 0; n < count; n += 1)
    await world.queueJob({
      row: { job_labels: '["tight"]', k8s_pool: 'tight', created_at: HOUR_AGO },
    });
};
/** Everything that waits may try again now. */
async function goOn(): Promise<void> {
  await world.match();
  await world.makeDue();
  await world.endPauses();
  await world.runTasks();
}
const podsOf = async (pool: string) =>
  (await world.workers()).filter((worker) => worker.k8s_pool === pool && worker.pod_uid !== null)
    .length;
const reasonOf = async (pool: string) =>
  (
    await world.db
      .selectFrom('demand_keys')
      .select('wait_reason')
      .where('k8s_pool', '=', pool)
      .executeTakeFirst()
  )?.wait_reason;

// A webhook may deny with any code, and contention for a quota is a 409.
test.each([
  [409, 'Conflict', QUOTA, 'cluster_error'],
  [409, 'Conflict', DENIED, 'cluster_error'],
  [429, 'TooManyRequests', DENIED, 'cluster_error'],
  [500, 'InternalError', DENIED, 'cluster_error'],
  [503, 'ServiceUnavailable', DENIED, 'cluster_error'],
  [504, 'Timeout', DENIED, 'cluster_error'],
  [400, 'BadRequest', DENIED, 'pod_refused'],
  [403, 'Forbidden', DENIED, 'pod_refused'],
  [404, 'NotFound', DENIED, 'pod_refused'],
  [422, 'Invalid', DENIED, 'pod_refused'],
])(
  'pods of one namespace are answered %i %s (%s), for ever: each job of another pool has its pod in the first pass, and the cluster is not away (P6)',
  async (status, reason, message, failureClass) => {
    await world.putPools(examplePools({ pools: [{}, TIGHT] }));
    const path = '/namespaces/others/pods$';
    world.kube.failNext({ method: 'POST', path, status, reason, message, times: 1_000_000 });
    await queueTight(4);
    for (let n = 0; n < 3; n += 1) await goOn();
    await queueTight(4);
    const seen: unknown[] = [];
    for (let time = 1; time <= TIMES; time += 1) {
      for (let n = 0; n < 3; n += 1) await world.queueJob();
      await goOn();
      seen.push([await podsOf('linux'), await reasonOf('linux'), await world.outages()]);
    }
    expect(seen).toEqual(Array.from({ length: TIMES }, (_, n) => [3 * (n + 1), null, []]));
    expect([await podsOf('tight'), await reasonOf('tight')]).toEqual([0, 'workers_failing']);
    expect(await world.failing()).toMatchObject([{ pool: 'tight', failureClass }]);

    world.kube.clearFaults();
    await world.settle();
    expect([await podsOf('tight'), await world.failing()]).toEqual([8, []]);
  },
);
