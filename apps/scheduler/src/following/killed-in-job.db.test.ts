import { expect, test } from '@jest/globals';
import { asList, asRecord } from '@paddock/domain/pools/as-record';
import { deploy } from '@paddock/testing/cluster-rights';
import { HOOKED_POOLS, hookObjects } from '@paddock/testing/hook-objects';
import { waitFor } from '@paddock/testing/wait-for';
import { describeReal } from '../scenes/real-cluster.scene.ts';

describeReal('runners of kubernetes mode on a real API server', {}, (world) => {
  test('a hundred killed in a job: what their hooks have made goes with them, and nothing else; the rights in deploy/kubernetes suffice (A3, H3)', async () => {
    const hooks = hookObjects((...call) => world.admin(...call));
    await deploy(world.admin, 'runner-hooks.yaml', 'runners');
    await world.putPools(HOOKED_POOLS);
    const stop = world.follow();
    try {
      await world.queueJobs(101);
      await world.drive(
        'all to run',
        async () => (await world.withStatus('running')).length === 101,
      );
      const [alive = '', ...killed] = (await world.workers()).map(({ pod_name }) => pod_name);
      const others = [
        ...(await hooks.make('somebodys', {})),
        ...(await hooks.make('anothers', { 'runner-pod': 'pdk-another' })),
        ...(await hooks.make(alive)),
      ];
      await Promise.all(killed.map((name) => hooks.make(name)));

      for (const name of killed) await world.annotate(name, { 'test.paddock/end': 'failed' });
      await waitFor('their objects to go', async () => {
        await world.runTasks();
        return (await hooks.list()).length <= others.length;
      });
      expect(await hooks.list()).toEqual(others.toSorted());
      await waitFor('the pods of their Jobs to go', async () => {
        const { items } = asRecord(await world.admin('GET', '/api/v1/namespaces/runners/pods'));
        const names = asList(items).map((pod) =>
          String(asRecord(asRecord(pod)['metadata'])['name']),
        );
        return !killed.some((name) => names.some((pod) => pod.startsWith(`${name}-`)));
      });
      expect(await world.withStatus('running')).toMatchObject([{ pod_name: alive }]);
    } finally {
      await stop();
      await hooks.clear();
    }
  });
});
