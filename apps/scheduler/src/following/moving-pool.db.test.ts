import { expect, test } from '@jest/globals';
import { deploy } from '@paddock/testing/cluster-rights';
import { examplePools } from '@paddock/testing/demand-rows';
import { waitFor } from '@paddock/testing/wait-for';
import { describeReal } from '../scenes/real-cluster.scene.ts';
import { useSchedulers } from '../scenes/scheduler-process.scene.ts';

const FAST = {
  scheduler: { matchTickMs: 200 },
  queue: { taskPollMs: 200 },
  db: { poolsRefreshMs: 500 },
};

describeReal('a pool that moves to another namespace', {}, (world) => {
  const schedulers = useSchedulers(world);

  test('a namespace that is missing is the pool’s reason, and no outage; the job in the old one goes on, and is seen to its end (C8, H1, H3, P1, P2)', async () => {
    await schedulers.configure();
    const scheduler = await schedulers.start(FAST, { PADDOCK_KUBECONFIG: world.kubeconfigFile });
    const readyz = (text: string) =>
      waitFor(`readiness with ${text}`, async () => (await scheduler.get('/readyz')).text === text);
    await readyz('ready');
    await world.queueJob();
    const running = (namespace: string) =>
      waitFor(`a runner in ${namespace}`, async () => {
        await world.endPauses();
        await world.makeDue();
        const all = await world.withStatus('running');
        return all.find((worker) => worker.namespace === namespace)?.pod_name;
      });
    const old = await running('runners');
    const hadJob = { assigned_at: new Date() };
    await world.db.updateTable('workers').set(hadJob).execute();

    await schedulers.configure({}, examplePools({ pools: [{ namespace: 'later' }] }));
    await waitFor('the pool to move', () => scheduler.said('pools document in force').length > 1);
    await world.queueJob();
    const [key] = await waitFor('the key to fail', async () => {
      const failing = await world.failing();
      return failing.length > 0 && failing;
    });
    expect(key).toMatchObject({
      failureClass: 'pod_refused',
      message: expect.stringContaining('in the namespace "later"'),
    });
    const rights = await waitFor('the missing rights', async () => {
      const { text } = await scheduler.get('/readyz');
      return text.startsWith('ready; rights are missing') && text;
    });
    expect(rights).toContain('in the namespace later: pods create, pods get');
    await waitFor(
      'the line about them',
      () => scheduler.said('lacks rights in a namespace').length,
    );
    expect(scheduler.said('lacks rights in a namespace')).toHaveLength(1);
    expect([await world.outages(), (await world.row(old))?.stopping_at]).toEqual([[], null]);

    await world.admin('POST', '/api/v1/namespaces', { metadata: { name: 'later' } });
    await deploy(world.admin, 'runner-namespace.yaml', 'later');
    await running('later');
    await readyz('ready');
    await world.annotate(old, { 'test.paddock/end': 'succeeded' });
    await waitFor('the end to be seen', async () => (await world.row(old))?.status === 'completed');
    // It had no pod yet when its pool moved.
    const failed = await world.withStatus('failed');
    expect(failed.filter(({ stop_reason: reason }) => reason !== 'pool_changed')).toEqual([]);
  });
});
